import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Challenges", .ownThread, .timeLimit(.minutes(1)))
struct AuthenticationChallengeTests {
    private func shown(_ fields: String...) -> [String] {
        let headers = HTTPHeaders(fields.map { .init(name: "www-authenticate", value: $0) })
        return AuthenticationChallenge.challenges(in: headers).map { challenge in
            let parameters = challenge.parameters.map { "\($0.name)=\($0.value)" }
            return ([challenge.scheme, challenge.token.map { "<\($0)>" }].compactMap { $0 } + parameters).joined(
                separator: " "
            )
        }
    }

    @Test func `the example of RFC 9110 has two challenges`() {
        let field = #"Basic realm="simple", Newauth realm="apps", type=1, title="Login to \"apps\"""#
        #expect(shown(field) == ["Basic realm=simple", "Newauth realm=apps type=1 title=Login to \"apps\""])
    }

    @Test(
        arguments: [
            ("", []), (" , ,", []), ("Negotiate", ["Negotiate"]), ("Negotiate, NTLM", ["Negotiate", "NTLM"]),
            ("Negotiate YWJj==, Basic realm=a", ["Negotiate <YWJj==>", "Basic realm=a"]),
            ("Negotiate a+/b~-._==", ["Negotiate <a+/b~-._==>"]), ("Bearer abc", ["Bearer <abc>"]),
            (
                #"Bearer realm="https://h/t?a=b,c",service="r",scope="repository:a/b:pull,push""#,
                ["Bearer realm=https://h/t?a=b,c service=r scope=repository:a/b:pull,push"]
            ),
            ("Basic realm = \"a\" ,\tcharset=\"UTF-8\"", ["Basic realm=a charset=UTF-8"]),
            (#"Digest realm="", nonce="\\\"", stale=TRUE"#, [#"Digest realm= nonce=\" stale=TRUE"#]),
            (#"Basic ,realm=a,,Bearer"#, ["Basic realm=a", "Bearer"]),
            (#"Basic realm="open, Bearer"#, ["Basic"]), (#"Basic realm=a b, Bearer"#, ["Basic", "Bearer"]),
            (#"realm="a", Basic realm=b"#, ["Basic realm=b"]), (#"@, Basic"#, ["Basic"]),
            (#"Basic "x", Bearer"#, ["Basic", "Bearer"]),
            (#"Basic realm="a" x, type=1"#, ["Basic type=1"]), ("Basic realm=", ["Basic <realm=>"]), ("=", []),
            ("\"", []),
        ] as [(String, [String])]
    )
    func `a field is read, and what is malformed in it left out`(field: String, expected: [String]) {
        #expect(shown(field) == expected)
    }

    @Test func `several fields follow each other, and names have no case`() throws {
        #expect(shown("Basic realm=a", "Digest nonce=n") == ["Basic realm=a", "Digest nonce=n"])
        let challenge = AuthenticationChallenge(scheme: "bEARER", parameters: ["Realm": "a", "realm": "b"])
        #expect(challenge.isOf("Bearer") && challenge["REALM"] == "a" && challenge["scope"] == nil)
        let url = try #require(URL(string: "https://h/"))
        let head = ResponseHead(url: url, status: 401, headers: ["WWW-Authenticate": "Bearer Realm=a, realm=b"])
        #expect(head.challenges.first?["realm"] == "a" && head.challenges.count == 1)
    }

    @Test func `no field takes longer than it is long, or ends the process`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let field = String(
                (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    "aB=,\"\\ \t~é".randomElement(using: &random) ?? "a"
                }
            )
            _ = shown(field)
        }
        #expect(shown(String(repeating: "a=,", count: 50_000)).isEmpty)
        #expect(shown("A " + String(repeating: "a=b,", count: 50_000)).count == 1)
    }
}
