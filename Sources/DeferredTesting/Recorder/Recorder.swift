internal import DeferredCore
public import DeferredHTTP
internal import DeferredNetworking
public import Foundation

/// Records requests and their results, to be replayed in tests by ``StubLoader/init(replaying:clock:)``.
///
/// ```swift
/// let recorder = Recorder()
/// let chain = Retry() --> recorder --> URLSessionLoader()
/// …
/// try recorder.write(to: file)
/// ```
///
/// What looks like a secret in headers, queries and bodies of text is left out, as in descriptions: look through the file
/// before you publish it, all the same. Responses that are streams or files are not recorded. Copies share the records.
public struct Recorder: HTTPLink {
    private let records = Records()

    /// Creates a recorder without records.
    public init() {}

    /// The number of recorded results.
    public var count: Int { records.list.withLock { $0.count } }

    /// Passes the task on, and records its result.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        task.pass(task.request, to: next) { [records] result in
            if let record = Record(task.request, result) { records.list.withLock { $0.append(record) } }
            task.complete(with: result)
        }
    }

    /// Writes the records in order of their ends, as JSON.
    public func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(records.list.withLock { $0 }).write(to: file, options: .atomic)
    }

    private final class Records: Sendable {
        let list = Lock<[Record]>([])
    }
}

/// A request and its result, without secrets.
struct Record: Codable, Sendable {
    struct Field: Codable, Sendable {
        let name: String
        let value: String
    }

    /// The method and the URL, as in a description.
    let request: String
    /// `nil` for a failure.
    let status: Int?
    /// The code of a failure.
    let failure: String?
    let headers: [Field]
    /// The body, if it is text.
    let text: String?
    /// The body, if it isn't.
    let data: Data?

    /// Returns `nil` for a stream or a file, and for a cancelled request.
    init?(_ request: HTTPRequest, _ result: HTTPResult) {
        self.request = request.description
        switch result {
        case .success(let response):
            guard response.stream == nil, response.file == nil else { return nil }
            status = response.status.code
            failure = nil
            headers = response.headers.compactMap { field in
                Redaction.isSecret(field.name) ? nil : Field(name: field.name, value: Redaction.text(field.value))
            }
            text = String(validating: response.body, as: UTF8.self).map(Redaction.text)
            data = text == nil ? response.body : nil
        case .failure(let error):
            guard error.code != .cancelled else { return nil }
            status = nil
            failure = error.code.rawValue
            headers = []
            text = nil
            data = nil
        }
    }

    var answer: StubLoader.Answer {
        guard let status else { return .failure(failure.flatMap(HTTPError.Code.init(rawValue:)) ?? .unknown) }
        let fields = headers.map { HTTPHeaders.Field(name: $0.name, value: $0.value) }
        return .response(HTTPStatus(status), headers: HTTPHeaders(fields), data: data ?? Data((text ?? "").utf8))
    }
}

extension StubLoader {
    /// Creates a stub that answers as a ``Recorder`` has recorded.
    ///
    /// The answers to requests with the same method and URL, both without secrets, are given in order, the last one
    /// repeatedly. Other requests fail with ``UnexpectedRequest``.
    ///
    /// - Parameters:
    ///   - file: Written by ``Recorder/write(to:)``.
    ///   - clock: The clock by which delays are measured.
    /// - Throws: The error of reading or decoding the file.
    public convenience init(replaying file: URL, clock: any Clock<Duration> = ContinuousClock()) throws {
        let records = try JSONDecoder().decode([Record].self, from: Data(contentsOf: file))
        var requests: [String] = []
        for record in records where !requests.contains(record.request) { requests.append(record.request) }
        self.init(
            requests.map { request in
                Expectation(request, records.filter { $0.request == request }.map(\.answer)) {
                    $0.description == request
                }
            },
            clock: clock
        )
    }
}
