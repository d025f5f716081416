import Deferred
import DeferredTesting
import Foundation
import Synchronization
import Testing

@testable import Services

/// An object store that checks each signature against the bytes that arrived, by its own reading of them.
private final class Store: Sendable {
    let server: LoopbackServer
    let objects: Objects

    final class Objects: Sendable {
        let values = Mutex<[String: Data]>([:])
        let uploads = Mutex<[String: [String: Data]]>([:])
        let mostInFlight = Mutex((now: 0, most: 0))
    }

    init(stallingParts: Bool = false) throws {
        let objects = Objects()
        self.objects = objects
        server = try LoopbackServer { request in
            guard Self.isSigned(request) else { return .response(403, body: "SignatureDoesNotMatch") }
            // The target as it came: two keys that differ in dots are two objects.
            let key = String(request.target.prefix { $0 != "?" })
            let query = HTTPRequest(url: URL(string: "http://h" + request.target) ?? URL(filePath: "/")).query
            func value(_ name: String) -> String? { query.first { $0.name == name }.map { $0.value ?? "" } }
            switch (request.method, value("uploadId"), value("partNumber")) {
            case ("POST", nil, _):
                objects.uploads.withLock { $0["u1"] = [:] }
                return .response(body: "<UploadId>u1</UploadId>")
            case ("PUT", let id?, let part?):
                if stallingParts { return [.stall] }
                objects.mostInFlight.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                Thread.sleep(forTimeInterval: 0.02)
                objects.mostInFlight.withLock { $0.now -= 1 }
                objects.uploads.withLock { $0[id]?[part] = request.body }
                return .response(headers: ["ETag": "\"\(part)\""])
            case ("POST", let id?, _):
                let parts = objects.uploads.withLock { $0.removeValue(forKey: id) ?? [:] }
                let whole = parts.sorted { Int($0.key) ?? 0 < Int($1.key) ?? 0 }.reduce(into: Data()) { $0 += $1.value }
                objects.values.withLock { $0[key] = whole }
                return .response()
            case ("DELETE", let id?, _):
                objects.uploads.withLock { $0[id] = nil }
                return .response(204)
            case ("PUT", _, _):
                objects.values.withLock { $0[key] = request.body }
                return .response()
            default:
                guard let bytes = objects.values.withLock({ $0[key] }) else { return .response(404) }
                return .response(body: .bytes(bytes))
            }
        }
    }

    private static func isSigned(_ request: LoopbackServer.Request) -> Bool {
        guard let url = URL(string: "http://\(request.headers["Host"] ?? "")\(request.target)") else { return false }
        var headers = HTTPHeaders()
        for name in ["X-Amz-Date", "X-Amz-Content-Sha256"] { headers[name] = request.headers[name] }
        var sent = HTTPRequest(HTTPMethod(rawValue: request.method), url: url, headers: headers)
        let signer = Signature(access: "me", secret: "hush")
        if let signature = sent.query.first(where: { $0.name == "X-Amz-Signature" })?.value {
            sent.query.removeAll { $0.name == "X-Amz-Signature" }
            let date = sent.query.first { $0.name == "X-Amz-Date" }?.value ?? ""
            return signer.signature(of: sent, ["host"], "UNSIGNED-PAYLOAD", date) == signature
        }
        let names = ["host", "x-amz-content-sha256", "x-amz-date"]
        let hash = Hash.text(request.body)
        let signature = signer.signature(of: sent, names, hash, request.headers["X-Amz-Date"] ?? "")
        return headers["X-Amz-Content-Sha256"] == hash
            && request.headers["Authorization"]?.hasSuffix("Signature=\(signature)") == true
    }
}

@Suite(.timeLimit(.minutes(1)))
struct ObjectStoreTests {
    private func bucket(_ store: Store, _ client: URLClient = URLClient()) -> Bucket {
        let environment = HTTPEnvironment(scheme: "http", host: "127.0.0.1", port: Int(store.server.port))
        return Bucket(
            "b",
            of: environment,
            Signature(access: "me", secret: "hush"),
            over: URLSessionLoader(client: client)
        )
    }

    @Test func `the example of the documentation`() {
        var signature = Signature(access: "AKIAIOSFODNN7EXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
        signature.now = { Date(timeIntervalSince1970: 1_369_353_600) }
        var request = HTTPRequest(host: "examplebucket.s3.amazonaws.com", path: "/test.txt")
        signature.presign(&request, for: 86_400)
        let expected = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        #expect(request.query.last?.value == expected)
    }

    @Test func `each key is an object of its own`() async throws {
        let store = try Store()
        let bucket = bucket(store)
        for key in ["x", "./x", "a/./b", "a/../b", "..", "ä b+c&d=e", "a%2Fb", "a//b"] {
            try await bucket.put(Data(key.utf8), as: key).get()
            #expect(try await bucket.get(key).get() == Data(key.utf8))
        }
        #expect(store.objects.values.withLock { $0.count } == 8)
    }

    @Test func `parts are sent four at a time`() async throws {
        let store = try Store()
        let parts = (0..<12).map { Data(repeating: UInt8($0), count: 10_000) }
        try await bucket(store).upload(parts, as: "large").get()
        #expect(try await bucket(store).get("large").get() == parts.reduce(Data(), +))
        #expect(store.objects.mostInFlight.withLock { (2...4).contains($0.most) })
    }

    @Test func `the parts of an upload that is cancelled are removed`() async throws {
        let store = try Store(stallingParts: true)
        let client = URLClient()
        let upload = client.keepOpen(for: bucket(store, client).upload([Data("a".utf8), Data("b".utf8)], as: "large"))
        while store.server.requestCount < 3 { try await Task.sleep(for: .milliseconds(5)) }
        upload.cancel()
        await client.shutdown().value
        #expect(store.objects.uploads.withLock { $0.isEmpty } && upload.isFilled)
    }

    @Test func `a presigned URL needs no signature of who sends it`() async throws {
        let store = try Store()
        try await bucket(store).put(Data("hello".utf8), as: "a b").get()
        var request = bucket(store).request(.get, "a b")
        (request.scheme, request.host, request.port) = ("http", "127.0.0.1", Int(store.server.port))
        Signature(access: "me", secret: "hush").presign(&request, for: 60)
        #expect(try await URLSessionLoader().load(request).get().text == "hello")
        request.path = "/b/other"
        #expect(try await URLSessionLoader().load(request).get().status == .forbidden)
    }
}
