import Deferred
import Foundation

/// Signs requests to an object store: AWS Signature Version 4.
package struct Signature: HTTPLink {
    let access: String
    let secret: String
    var region = "us-east-1"
    var now: @Sendable () -> Date = { Date() }

    package init(access: String, secret: String) { (self.access, self.secret) = (access, secret) }

    /// Signs requests to the store itself: a server that a redirect has named gets no signature.
    package func load(_ task: HTTPTask, next: any HTTPLoader) {
        guard task.request.isForEnvironment else { return task.pass(to: next) }
        var request = task.request
        let body = request.body.pieces.reduce(into: Data()) { if case .data(let data) = $1 { $0 += data } }
        let (date, hash) = (Self.text(now()), Hash.text(body))
        request.headers["X-Amz-Date"] = date
        request.headers["X-Amz-Content-Sha256"] = hash
        let names = ["host", "x-amz-content-sha256", "x-amz-date"]
        let signature = signature(of: request, names, hash, date)
        request.headers["Authorization"] =
            "AWS4-HMAC-SHA256 Credential=\(access)/\(scope(date)), SignedHeaders=\(names.joined(separator: ";")), "
            + "Signature=\(signature)"
        task.pass(request, to: next)
    }

    /// Adds a signature to the query of a request, so that somebody else can send it for a while.
    package func presign(_ request: inout HTTPRequest, for seconds: Int) {
        let date = Self.text(now())
        for (name, value) in [
            ("Algorithm", "AWS4-HMAC-SHA256"), ("Credential", "\(access)/\(scope(date))"), ("Date", date),
            ("Expires", "\(seconds)"), ("SignedHeaders", "host"),
        ] { request.addQueryItem(name: "X-Amz-" + name, value: value) }
        let signature = signature(of: request, ["host"], "UNSIGNED-PAYLOAD", date)
        request.addQueryItem(name: "X-Amz-Signature", value: signature)
    }

    func scope(_ date: String) -> String { "\(date.prefix(8))/\(region)/s3/aws4_request" }

    /// Returns the signature of a request as it is sent: with the path as it was given, dots included.
    func signature(of request: HTTPRequest, _ names: [String], _ hash: String, _ date: String) -> String {
        let host = (request.host ?? "") + (request.port.map { ":\($0)" } ?? "")
        let query = request.query.map { (Self.encoded($0.name), Self.encoded($0.value ?? "")) }.sorted { $0 < $1 }
        let fields = names.map { "\($0):\($0 == "host" ? host : request.headers[$0] ?? "")\n" }.joined()
        let canonical = [
            request.method.rawValue, Self.encoded(request.path, keeping: "/"),
            query.map { "\($0)=\($1)" }.joined(separator: "&"), fields, names.joined(separator: ";"), hash,
        ].joined(separator: "\n")
        let text = ["AWS4-HMAC-SHA256", date, scope(date), Hash.text(Data(canonical.utf8))].joined(separator: "\n")
        let keys = [String(date.prefix(8)), region, "s3", "aws4_request"]
        let key = keys.reduce(Array("AWS4\(secret)".utf8)) { Hash.code(of: $1, with: $0) }
        return Hash.digits(Hash.code(of: text, with: key))
    }

    static func encoded(_ text: String, keeping more: String = "") -> String {
        text.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain = byte < 128 && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            return isPlain || ("-._~" + more).unicodeScalars.contains(scalar)
                ? String(scalar) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined()
    }

    private static func text(_ date: Date) -> String {
        date.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    }
}

/// A client of a bucket.
package struct Bucket: Sendable {
    struct Malformed: Error {}

    private let chain: any HTTPLoader
    private let name: String

    package init(_ name: String, of store: HTTPEnvironment, _ signature: Signature, over network: any HTTPLoader) {
        self.name = name
        chain = Validate() --> Retry() --> ApplyEnvironment(store) --> signature --> network
    }

    /// Returns a request for an object. A key may be anything, also `../x`, and is sent as it is.
    package func request(_ method: HTTPMethod, _ key: String, _ query: KeyValuePairs<String, String?> = [:])
        -> HTTPRequest
    {
        HTTPRequest(method, path: "/\(name)/\(key)", query: query.map { URLQueryItem(name: $0.key, value: $0.value) })
    }

    package func get(_ key: String) -> Task<Data> { chain.load(request(.get, key)).task.map(\.body) }

    package func put(_ bytes: Data, as key: String) -> Task<Void> {
        var request = request(.put, key)
        request.body = .data(bytes)
        return chain.load(request).task.map { _ in }
    }

    /// Uploads an object in parts, four at a time. If it fails or is cancelled, the parts are removed at the store.
    package func upload(_ parts: [Data], as key: String) -> Task<Void> {
        chain.load(request(.post, key, ["uploads": nil])).task.flatMap { response -> Task<Void> in
            guard let id = response.text.firstMatch(of: /<UploadId>([^<]+)</)?.1 else { throw Malformed() }
            let tags = Array(parts.enumerated()).mapTasks(maxConcurrent: 4) { index, part in
                var request = request(.put, key, ["partNumber": "\(index + 1)", "uploadId": String(id)])
                request.body = .data(part)
                return chain.load(request).task.map { $0.headers["ETag"] ?? "" }
            }
            return tags.flatMap { tags -> Task<Void> in
                let list = tags.enumerated().map { "<Part><PartNumber>\($0 + 1)</PartNumber><ETag>\($1)</ETag></Part>" }
                var request = request(.post, key, ["uploadId": String(id)])
                request.body = .text("<CompleteMultipartUpload>\(list.joined())</CompleteMultipartUpload>")
                return chain.load(request).task.map { _ in }
            }.always { result in
                guard case .failure = result else { return }
                _ = await chain.load(request(.delete, key, ["uploadId": String(id)])).task.result
            }
        }
    }
}
