import DeferredCore
import DeferredTask
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("TLS of a session", .ownThread, .timeLimit(.minutes(1)))
struct SessionSecurityTests {
    private let url: URL

    init() throws {
        url = try #require(URL(string: "https://127.0.0.1:1/"))
    }

    private func refusal(_ change: (inout URLClient.TLS) -> Void) async -> String? {
        let client = URLClient.fresh {
            $0.engine = .urlSession
            change(&$0.tls)
        }
        guard let error = await client.begin(url).failure() as? URLClientError,
            case .engineUnavailable(let reason) = error.code
        else { return nil }
        return reason
    }

    #if canImport(FoundationNetworking)
    @Test func `URLSession on Linux refuses it`() async {
        #expect(await refusal { $0.minimumVersion = .v1_3 }?.hasPrefix("tls is not supported by .urlSession") == true)
    }

    @Test func `a certificate in PKCS#12 format isn't for libcurl`() async {
        let client = URLClient.fresh {
            $0.engine = .libcurl
            $0.tls.clientCertificate = .init(pkcs12: URL(filePath: "/id.p12"), password: "")
        }
        let error = await client.begin(url).failure() as? URLClientError
        #expect(error?.description.contains("PEM") == true)
    }
    #else
    @Test func `authorities are certificates in PEM format`() async {
        let pem = Data(SubjectPublicKeyInfoTests.certificates.map(\.0).joined(separator: "\n").utf8)
        #expect(await refusal { $0.authorities = .data(pem) } == nil)
        #expect(await refusal { $0.authorities = .data(Data("no".utf8)) }?.contains("in memory") == true)
        #expect(await refusal { $0.authorities = .file(URL(filePath: "/no/ca.pem")) }?.contains("/no/ca.pem") == true)
    }

    @Test func `a client's certificate is an archive that can be read`() async {
        let file = URL(filePath: "/no/id.p12")
        #expect(await refusal { $0.clientCertificate = .init(pkcs12: file, password: "") }?.contains("id.p12") == true)
        #expect(
            await refusal { $0.clientCertificate = .init(certificate: file, key: file) }?.contains("PKCS#12") == true
        )
    }

    @Test func `a session gets only the version if everything else is the system's default`() throws {
        var tls = URLClient.TLS()
        tls.minimumVersion = .v1_3
        let configuration = URLSessionConfiguration.ephemeral
        SessionSecurity.setMinimumVersion(of: tls, in: configuration)
        #expect(configuration.tlsMinimumSupportedProtocolVersion.rawValue == 0x0304)
        #expect(try SessionSecurity(tls) == nil)
    }
    #endif
}
