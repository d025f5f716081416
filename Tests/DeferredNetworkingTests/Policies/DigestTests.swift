import DeferredCore
import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

/// In a class, since a macro's argument can't be changed.
private final class Answers {
    private var answers: DigestAnswers

    init(_ session: DigestSession) { answers = DigestAnswers(session) }

    func field(method: String, url: URL, body: () -> Data?) -> String? {
        answers.field(method: method, url: url, body: body)
    }

    func mayAnswer(_ challenges: [AuthenticationChallenge], body: () -> Data?) -> Bool {
        answers.mayAnswer(challenges, body: body)
    }
}

@Suite("Digest", .ownThread, .timeLimit(.minutes(1)))
struct DigestTests {
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"

    private func url(_ text: String = "http://www.example.org/dir/index.html") throws -> URL {
        try #require(URL(string: text))
    }

    private func challenge(_ fields: KeyValuePairs<String, String>) -> AuthenticationChallenge {
        AuthenticationChallenge(scheme: "Digest", parameters: fields)
    }

    private func session(_ user: String = "Mufasa", _ password: String = "Circle of Life", clientNonce: String)
        -> DigestSession
    {
        DigestSession(user: user, password: password, clientNonce: { clientNonce })
    }

    /// Returns the parameters of a field, which have the grammar of a challenge.
    private func parameters(_ field: String?) -> [String: String] {
        let challenge = AuthenticationChallenge.challenges(in: ["WWW-Authenticate": field ?? ""]).first
        return Dictionary((challenge?.parameters ?? []).map { ($0.name, $0.value) }) { one, _ in one }
    }

    @Test func `the hashes of RFC 1321`() {
        func text(_ message: String) -> String { SHA256.hexadecimal(MD5.hash(Array(message.utf8))) }
        #expect(text("") == "d41d8cd98f00b204e9800998ecf8427e" && text("abc") == "900150983cd24fb0d6963f7d28e17f72")
        #expect(
            text(String(repeating: "1234567890", count: 8)) == "57edf4a22be3c955ac49da2e2107b67a"
        )
    }

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `the examples of RFC 7616, section 3 9 1`(algorithm: String, response: String) throws {
        let answers = Answers(session(clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"))
        let challenge = challenge([
            "realm": "http-auth@example.org", "qop": "auth, auth-int", "algorithm": algorithm, "nonce": Self.nonce,
            "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
        ])
        #expect(answers.field(method: "GET", url: try url(), body: { nil }) == nil)
        #expect(answers.mayAnswer([challenge], body: { nil }))
        let sent = parameters(answers.field(method: "GET", url: try url(), body: { nil }))
        #expect(sent["response"] == response && sent["username"] == "Mufasa" && sent["uri"] == "/dir/index.html")
        #expect(sent["qop"] == "auth" && sent["nc"] == "00000001" && sent["algorithm"] == algorithm)
        #expect(sent["opaque"] == "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS")
    }

    @Test func `the example of RFC 2069 has no protection, and no count`() throws {
        let answers = Answers(session("Mufasa", "CircleOfLife", clientNonce: "c"))
        let challenge = challenge(["realm": "testrealm@host.com", "nonce": "dcd98b7102dd2f0e8b11d0f600bfb0c093"])
        #expect(answers.mayAnswer([challenge], body: { nil }))
        let sent = parameters(answers.field(method: "GET", url: try url(), body: { nil }))
        // As the erratum 749 has it.
        #expect(sent["response"] == "1949323746fe6a43ef61f9606e7febea" && sent["nc"] == nil && sent["cnonce"] == nil)
    }

    @Test func `a user is hashed, encoded or quoted`() throws {
        for (user, isHashed, name, value) in [
            ("J\u{E4}s\u{F8}n Doe", true, "username", SHA256.text(Array("J\u{E4}s\u{F8}n Doe:r".utf8))),
            ("J\u{E4}s", false, "username*", "UTF-8''J%C3%A4s"), (#"a"b\c"#, false, "username", #"a"b\c"#),
        ] {
            let answers = Answers(session(user, clientNonce: "c"))
            let challenge = challenge([
                "realm": "r", "nonce": "n", "algorithm": "SHA-256", "userhash": isHashed ? "true" : "false",
            ])
            #expect(answers.mayAnswer([challenge], body: { nil }))
            let field = try #require(answers.field(method: "GET", url: try url(), body: { nil }))
            #expect(parameters(field)[name] == value && (parameters(field)["userhash"] == "true") == isHashed)
        }
    }

    @Test func `the body is covered where the server wants it`() throws {
        let challenge = challenge(["realm": "r", "nonce": "n", "qop": "auth-int"])
        let answers = Answers(session("u", "p", clientNonce: "c"))
        #expect(!answers.mayAnswer([challenge], body: { nil }))
        #expect(answers.mayAnswer([challenge], body: { Data("body".utf8) }))
        let sent = parameters(
            answers.field(method: "PUT", url: try url("http://www.example.org?q"), body: { Data("body".utf8) })
        )
        func hash(_ text: String) -> String { SHA256.hexadecimal(MD5.hash(Array(text.utf8))) }
        let request = hash("PUT:/?q:" + hash("body"))
        #expect(sent["response"] == hash("\(hash("u:r:p")):n:00000001:c:auth-int:\(request)") && sent["uri"] == "/?q")
    }

    @Test func `a session's key is that of the first request`() throws {
        let challenge = challenge(["realm": "r", "nonce": "n", "qop": "auth", "algorithm": "MD5-sess"])
        let answers = Answers(session("u", "p", clientNonce: "c"))
        #expect(answers.mayAnswer([challenge], body: { nil }))
        func hash(_ text: String) -> String { SHA256.hexadecimal(MD5.hash(Array(text.utf8))) }
        for count in 1...2 {
            let sent = parameters(answers.field(method: "GET", url: try url("http://www.example.org/a"), body: { nil }))
            #expect(
                sent["response"] == hash("\(hash("\(hash("u:r:p")):n:c")):n:0000000\(count):c:auth:\(hash("GET:/a"))")
            )
        }
    }

    @Test func `the strongest supported challenge is answered`() throws {
        let all = ["SHA-512-256", "MD5", "SHA-256", "NEW"].map {
            challenge(["realm": "r", "nonce": $0, "algorithm": $0])
        }
        #expect(
            DigestChallenge.best(of: all)?.nonce == "SHA-256"
                && DigestChallenge.best(of: Array(all.prefix(2)))?.nonce == "MD5"
        )
        let unusable = ["realm": "a\u{1}b", "nonce": "n"] as KeyValuePairs
        for fields in [["realm": "r"], ["nonce": "n"], ["realm": "r", "nonce": "n", "qop": "new"], unusable]
            as [KeyValuePairs<String, String>]
        {
            #expect(DigestChallenge.best(of: [challenge(fields)]) == nil)
        }
        #expect(
            DigestChallenge(AuthenticationChallenge(scheme: "Basic", parameters: ["realm": "r", "nonce": "n"])) == nil
        )
    }

    @Test func `an answer is given once, and again only if the nonce was too old`() throws {
        let session = session(clientNonce: "c")
        func fields(_ nonce: String, _ stale: String = "false") -> AuthenticationChallenge {
            challenge(["realm": "r", "nonce": nonce, "qop": "auth", "stale": stale])
        }
        let url = try url()
        let first = Answers(session)
        #expect(first.mayAnswer([fields("1")], body: { nil }))
        _ = first.field(method: "GET", url: url, body: { nil })
        #expect(!first.mayAnswer([fields("2")], body: { nil }), "wrong password")
        // A further request has the nonce, which may be too old by now.
        let second = Answers(session)
        #expect(parameters(second.field(method: "GET", url: url, body: { nil }))["nc"] == "00000002")
        #expect(second.mayAnswer([fields("3", "TRUE")], body: { nil }))
        #expect(parameters(second.field(method: "GET", url: url, body: { nil }))["nc"] == "00000001")
        #expect(second.mayAnswer([fields("4", "true")], body: { nil }))
        // Nonces belong to origins.
        let other = Answers(session)
        #expect(other.field(method: "GET", url: try self.url("http://www.example.org:81/"), body: { nil }) == nil)
    }

    @Test func `each request answers its own challenge, whatever others have got meanwhile`() throws {
        let session = session("u", "p", clientNonce: "c")
        let answers = ["1", "2"].map { nonce in
            (Answers(session), challenge(["realm": "r", "nonce": nonce, "qop": "auth"]))
        }
        for (answers, challenge) in answers { #expect(answers.mayAnswer([challenge], body: { nil })) }
        let sent = try answers.map { parameters($0.0.field(method: "GET", url: try url(), body: { nil })) }
        #expect(sent.map { $0["nonce"] } == ["1", "2"] && sent.allSatisfy { $0["nc"] == "00000001" })
        // The next request has the newest one.
        let next = parameters(Answers(session).field(method: "GET", url: try url(), body: { nil }))
        #expect(next["nonce"] == "2" && next["nc"] == "00000002")
    }
}
