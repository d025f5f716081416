import Foundation

/// A server's answer to one request, with the outcomes that are acceptable for a client.
struct FuzzResponse {
    /// The peculiarity of the response, in a few words.
    var construct: String
    var isValid: Bool
    var first: FuzzMessage

    /// The answer to a redirected request.
    var next: FuzzMessage?

    /// The answer to a request that resumes a partial download.
    var continuation: (@Sendable (_ offset: Int) -> FuzzMessage)?

    /// The status that is finally delivered, if the response is valid.
    var status = 200

    /// The bodies that are acceptable as complete. If the response is valid, the first one is expected.
    var bodies: [Data]

    /// True if, by the response's framing, any prefix of these bodies is complete as well.
    var acceptsPrefixes = false

    /// True if the server may leave the client waiting, so that the deadline ends the request.
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

/// The JSON entity of valid responses.
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
