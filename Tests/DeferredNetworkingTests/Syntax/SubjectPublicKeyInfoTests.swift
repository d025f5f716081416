import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Certificates", .ownThread, .timeLimit(.minutes(1)))
struct SubjectPublicKeyInfoTests {
    /// Certificates, each with its key as `openssl x509 -pubkey` and `openssl pkey -pubin -outform der` print it, in
    /// base 64.
    static let certificates = [
        (
            """
            -----BEGIN CERTIFICATE-----
            MIIDDzCCAfegAwIBAgIUFqTQdAnt1hqAH6Gds0nDrDucB9EwDQYJKoZIhvcNAQEL
            BQAwFjEUMBIGA1UEAwwLcnNhLmV4YW1wbGUwIBcNMjYxMTIxMjMyODUwWhgPMjEy
            NjEwMjgyMzI4NTBaMBYxFDASBgNVBAMMC3JzYS5leGFtcGxlMIIBIjANBgkqhkiG
            9w0BAQEFAAOCAQ8AMIIBCgKCAQEAmNVPazq5YmFUGM6sTa39iIC3HhEtuUlbGM5R
            z3sMoq4TZY3cWpTTbH8LvKhyYfIyhTZiONUGoqb4wqq/Rbo2NmEwl6ePjWl47rM5
            tD2QiAij5fZG6th6AViOrJjZCFdH5Wv7p6dMJsprBpRzFmBiK4dStdV1AYTcakfG
            gYphZRNqi0n+HLxm+ZKk8J0cwGCHgGy4/rhEIFLrG85Te5uNfb9YsUDuqkHCGMhx
            ZMB4fSiZ4L6305HIsHuGt2Yu9XLGBdufLOjOIH7BhSvOZE8gTI+RChcCSEspHiWQ
            ahUgXbXNpTWV59ElMSE939vGyxH98UpV1aVmBu2wbU1dypYqXQIDAQABo1MwUTAd
            BgNVHQ4EFgQUe0l/HGdZ5a2TmrpdaNQF787nHdQwHwYDVR0jBBgwFoAUe0l/HGdZ
            5a2TmrpdaNQF787nHdQwDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0BAQsFAAOC
            AQEAgIhjqf2GSpp9VYW9hwcwpOGD28xtOlDanSxkhyzm178zGQmD7RlgeFrsw2nd
            8lvebajXKre0GqmRJjoxv8MB4cVJyGzi76EGE1Fn+PmklV9dwmFwkU4xNdhXTTdq
            rlUiATlvU1CA6WaCNJ4mkWHDtLY1S8btcqY+pCdxzukQO7nqO3RnimqYIIjvJBqD
            4KhMUEyn7D4j+XsVir9LCubfdQrYinPbSYO7n00t66frXXMKhf1Smyhki+uCqV1s
            NTCxFo1s4TLdgOC5pw0k/f1ynjZWX7KxR96mztAbnELtIVaBR7syuHWKgW300qkQ
            MzWFIHixyUoY55ODV+g/5zdI/Q==
            -----END CERTIFICATE-----
            """,
            "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAmNVPazq5YmFUGM6sTa39iIC3HhEtuUlbGM5Rz3sMoq4TZY3cWpTTbH8LvKhyYfIy"
                + "hTZiONUGoqb4wqq/Rbo2NmEwl6ePjWl47rM5tD2QiAij5fZG6th6AViOrJjZCFdH5Wv7p6dMJsprBpRzFmBiK4dStdV1AYTcakfGgYph"
                + "ZRNqi0n+HLxm+ZKk8J0cwGCHgGy4/rhEIFLrG85Te5uNfb9YsUDuqkHCGMhxZMB4fSiZ4L6305HIsHuGt2Yu9XLGBdufLOjOIH7BhSvO"
                + "ZE8gTI+RChcCSEspHiWQahUgXbXNpTWV59ElMSE939vGyxH98UpV1aVmBu2wbU1dypYqXQIDAQAB"
        ),
        (
            """
            -----BEGIN CERTIFICATE-----
            MIIBgjCCASegAwIBAgIUF8OzWi+qPKf5pU5iFDXgxYDthx8wCgYIKoZIzj0EAwIw
            FTETMBEGA1UEAwwKZWMuZXhhbXBsZTAgFw0yNjExMjEyMzI4NTBaGA8yMTI2MTAy
            ODIzMjg1MFowFTETMBEGA1UEAwwKZWMuZXhhbXBsZTBZMBMGByqGSM49AgEGCCqG
            SM49AwEHA0IABG8kqbo+yPwN5dPXF2nRgsh9cZ++t6Pjdr+LBFfKdxTXGMb1IqLB
            3fXwxzbyelXBXZ9oABjQ2tUpU2PeaT4tXEajUzBRMB0GA1UdDgQWBBQBRqS6vuT4
            wqz5fZxlBLXN6TNGnzAfBgNVHSMEGDAWgBQBRqS6vuT4wqz5fZxlBLXN6TNGnzAP
            BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDTCdPpwCX0Lw4Ya/XI
            TdBHTcAVHN6E3F4fUrQxzN7I0gIhANFEuOLYr0wMcKp6rPNTBbjjRmNLzctu9y0z
            qZn8VVn6
            -----END CERTIFICATE-----
            """,
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEbySpuj7I/A3l09cXadGCyH1xn763o+N2v4sEV8p3FNcYxvUiosHd9fDHNvJ6VcFdn2gAGNDa"
                + "1SlTY95pPi1cRg=="
        ),
    ]

    @Test(arguments: certificates)
    func `a certificate's public key is found with its algorithm`(pem: String, key: String) throws {
        let certificate = try #require(PEM.blocks("CERTIFICATE", in: Data(pem.utf8))?.first)
        #expect(SubjectPublicKeyInfo.of(certificate: certificate)?.base64EncodedString() == key)
    }

    @Test func `certificates that are cut off or altered give a key or nothing, and don't trap`() throws {
        let certificate = try #require(PEM.blocks("CERTIFICATE", in: Data(Self.certificates[1].0.utf8))?.first)
        for length in 0..<certificate.count {
            #expect(SubjectPublicKeyInfo.of(certificate: certificate.prefix(length)) == nil)
        }
        var generator = SeededGenerator(seed: 17)
        for _ in 0..<20_000 {
            var altered = certificate
            for _ in 0...2 {
                altered[Int(generator.next() % UInt64(altered.count))] = UInt8(truncatingIfNeeded: generator.next())
            }
            _ = SubjectPublicKeyInfo.of(certificate: altered)
        }
        #expect(SubjectPublicKeyInfo.of(certificate: Data([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF])) == nil)
        #expect(SubjectPublicKeyInfo.of(certificate: Data([0x30, 0x89] + Array(repeating: 0xFF, count: 9))) == nil)
    }

    @Test func `PEM gives all blocks of a label, or nothing when one is malformed`() {
        let both = Self.certificates.map(\.0).joined(separator: "\r\n# a remark\r\n")
        #expect(PEM.blocks("CERTIFICATE", in: Data(both.utf8))?.count == 2)
        #expect(PEM.blocks("PRIVATE KEY", in: Data(both.utf8)) == nil)
        #expect(PEM.blocks("CERTIFICATE", in: Data(both.dropLast(30).utf8)) == nil)
        #expect(PEM.blocks("CERTIFICATE", in: Data(both.replacingOccurrences(of: "MII", with: "M?I").utf8)) == nil)
        #expect(PEM.blocks("CERTIFICATE", in: Data("-----BEGIN CERTIFICATE----------END CERTIFICATE-----".utf8)) == nil)
        #expect(PEM.blocks("CERTIFICATE", in: Data()) == nil)
    }
}
