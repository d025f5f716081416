import Foundation

/// What a server answers to one request, and what a client may make of it.
struct FuzzResponse {
    /// What is odd about it, in a few words.
    var construct: String
    var isValid: Bool
    var first: FuzzMessage

    /// The answer to a redirected request.
    var next: FuzzMessage?

    /// The answer to a request that continues a part.
    var continuation: (@Sendable (_ offset: Int) -> FuzzMessage)?

    /// The status of what is delivered in the end, where it is valid.
    var status = 200

    /// The bodies that can pass for whole. Where it is valid, the first is the one.
    var bodies: [Data]

    /// Whether the sender's framing makes each beginning of these bodies a whole one as well.
    var acceptsPrefixes = false

    /// Whether the server may leave the client waiting, so that a deadline is the right end.
    var stalls = false

    var method: String?
    var range: String?

    func accepts(_ body: Data) -> Bool {
        bodies.contains(body) || acceptsPrefixes && bodies.contains { $0.starts(with: body) }
    }

    var printable: String {
        let request = "\(method ?? "GET")\(range.map { " Range: \($0)" } ?? "")"
        return "\(construct), \(request): \(first.printable)\(next.map { " next: \($0.printable)" } ?? "")"
    }
}

/// The JSON that valid responses have as their entity.
struct FuzzEntity: Codable, Equatable {
    var seed: Int
    var text: String

    init(seed: Int, length: Int) {
        self.seed = seed
        text = ""
        var number = seed
        while text.utf8.count < length {
            text += "\(number) "
            number += 7
        }
    }

    var data: Data { Data("{\"seed\":\(seed),\"text\":\"\(text)\"}".utf8) }
}
