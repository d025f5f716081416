import DeferredNetworking
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The head of a response as a caller sees it, whatever types the library has for it.
struct FuzzHead: Sendable {
    var status: Int
    var url: String

    /// The values by lower-case name. Several of one name are joined by commas, in their order.
    var fields: [String: String] = [:]

    init(_ response: URLResponse) {
        let head = response as? HTTPURLResponse
        status = head?.statusCode ?? 0
        url = response.url?.absoluteString ?? ""
        for case (let name as String, let value as String) in head?.allHeaderFields ?? [:] {
            fields[name.lowercased()] = value
        }
    }

    /// Names and values are those of Foundation's object, as when the outcomes were recorded.
    init(_ head: ResponseHead) { self.init(head.httpURLResponse) }

    /// Returns, for example, `200 5f 1234b 0a1b2c3d`: the status, the numbers of fields and of bytes of the body, and a
    /// checksum of the URL, all fields and the body.
    ///
    /// - Parameter port: The port of the server, which is another one in each run.
    func recorded(_ body: Data, port: UInt16) -> String {
        let lines = ["\(status) \(url)"] + fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        let text = lines.joined(separator: "\n").replacing(":\(port)", with: ":80")
        let checksum = FuzzCoding.hexadecimal(FuzzCoding.crc(Data(text.utf8) + Data("\n\n".utf8) + body))
        return "\(status) \(fields.count)f \(body.count)b \(checksum)"
    }
}

extension FuzzRun.Outcome {
    /// Returns the outcome in a few words, and the number of requests if there was not one: `200 5f 1234b 0a1b2c3d x2`.
    ///
    /// See ``FuzzHead/recorded(_:port:)``. A negative number is the code of a `URLError`; other errors have their case.
    func recorded(requests count: Int, port: UInt16) -> String {
        let text = recorded(port: port)
        let count =
            switch text {
            // libcurl repeats a request by itself where a kept connection turns out to be closed.
            case "-1005": min(count, 2)
            // How far it came by then is a matter of time.
            case "-1001", "deadlineExceeded": 1
            default: count
            }
        return text + (count == 1 ? "" : " x\(count)")
    }

    private func recorded(port: UInt16) -> String {
        switch self {
        case .body(let body, let head):
            head.recorded(body, port: port)
        case .decoded(let entity):
            "decoded \(entity.data.count)b \(FuzzCoding.hexadecimal(FuzzCoding.crc(entity.data)))"
        case .failure(let error as URLClientError):
            Self.recorded(error, port: port)
        case .failure(let error as URLError):
            "\(error.code.rawValue)"
        case .failure(let error as CocoaError):
            "CocoaError \(error.code.rawValue)"
        case .failure(let error):
            // The case of a `DecodingError`.
            "\(type(of: error)) \(Mirror(reflecting: error).children.first?.label ?? "")"
        }
    }

    private static func recorded(_ error: URLClientError, port: UInt16) -> String {
        switch error.code {
        case .invalidRequest: return "invalidRequest"
        case .bodyTooLarge(let limit): return "bodyTooLarge \(limit)"
        case .lineTooLong(let limit): return "lineTooLong \(limit)"
        case .unacceptableStatus(let code, let body):
            guard let head = error.head else { return "refused \(code) \(body.count)b" }
            return "refused " + FuzzHead(head).recorded(body, port: port)
        case .deadlineExceeded: return "deadlineExceeded"
        case .shutDown: return "shutDown"
        case .truncatedBody(let received, let expected): return "truncatedBody \(received)/\(expected)"
        case .engineUnavailable: return "engineUnavailable"
        }
    }
}

/// The outcomes of responses by kind and seed, in a text file with a line for each seed.
///
/// A line has the outcomes that were seen, of which any is right; an empty one has none yet. A line of `*` stands for
/// more than ``mostOutcomes``: the outcome is left to chance, and isn't compared.
struct RecordedResponses {
    static let kinds: [(kind: ResponseGenerator.Kind, count: Int)] = [(.hostile, 15_000), (.valid, 5_000)]
    static let mostOutcomes = 4
    private static let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Recorded/responses.txt")

    /// The version of libcurl, such as `7.88.1`; empty if nothing is recorded.
    private(set) var version = ""
    private var lines: [ResponseGenerator.Kind: [Substring]] = [:]

    init() {
        var kind: ResponseGenerator.Kind?
        let text = (try? String(contentsOf: Self.file, encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("# libcurl ") {
                version = String(line.dropFirst(10))
            } else if line.hasPrefix("## ") {
                kind = ResponseGenerator.Kind(rawValue: String(line.dropFirst(3)))
            } else if let kind {
                lines[kind, default: []].append(line)
            }
        }
        for (kind, count) in Self.kinds {
            let missing = max(0, count - (lines[kind]?.count ?? 0))
            lines[kind] = Array((lines[kind] ?? []).prefix(count)) + Array(repeating: "", count: missing)
        }
    }

    func outcomes(_ kind: ResponseGenerator.Kind, _ seed: Int) -> [String] {
        lines[kind]?[seed].split(separator: " | ").map { String($0) } ?? []
    }

    func accepts(_ outcome: String, _ kind: ResponseGenerator.Kind, _ seed: Int) -> Bool {
        let outcomes = outcomes(kind, seed)
        return outcomes.contains(outcome) || outcomes == ["*"]
    }

    mutating func add(_ outcome: String, _ kind: ResponseGenerator.Kind, _ seed: Int) {
        guard !accepts(outcome, kind, seed) else { return }
        let all = (outcomes(kind, seed) + [outcome]).sorted()
        lines[kind]?[seed] = all.count > Self.mostOutcomes ? "*" : Substring(all.joined(separator: " | "))
    }

    /// - Parameter version: The version of libcurl.
    func write(version: String) throws {
        let all = Self.kinds.flatMap { lines[$0.kind] ?? [] }
        var text = """
            # libcurl \(version)
            # The outcomes of \(all.count) responses, a line for each seed from 0 on: see RecordedResponsesTests.swift.
            # \(all.count { $0.contains(" | ") }) have several, since timing decides; \(all.count { $0 == "*" }) are left out.

            """
        for (kind, _) in Self.kinds {
            text += "## \(kind.rawValue)\n\((lines[kind] ?? []).joined(separator: "\n"))\n"
        }
        try Data(text.utf8).write(to: Self.file, options: .atomic)
    }
}
