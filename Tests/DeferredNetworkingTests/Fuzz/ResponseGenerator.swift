import Foundation
import TestSupport

/// Generates responses from seeds: valid ones, and hostile ones (see `ResponseGenerator+Hostile.swift`).
///
/// Responses that crash or freeze the process inside URLSession, so that no client can prevent it, are generated only
/// for clients over libcurl (see `ResponseGenerator+Lethal.swift`): a close after the status line and before the end of
/// a head in which there was no `Content-Length` above zero yet, also after a 1xx alone; lengths from 2⁶³−512 up;
/// trailers; `HTTP/2` status lines over HTTP/1.1; tens of thousands of header lines.
struct ResponseGenerator {
    enum Kind: String, Codable, Sendable {
        case valid, hostile
    }

    let seed: Int
    let door: FuzzDoor
    let authority: String
    var random: SeededGenerator

    /// - Parameter authority: The host and the port of the server, for redirects.
    static func response(_ seed: Int, _ kind: Kind, authority: String) -> FuzzResponse {
        var generator = Self(
            seed: seed,
            door: FuzzDoor.of(seed: seed) ?? .begin,
            authority: authority,
            random: SeededGenerator(seed: UInt64(seed))
        )
        switch kind {
        case .valid: return generator.valid()
        case .hostile: return generator.hostile()
        }
    }

    mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    mutating func chance(_ oneIn: Int) -> Bool { int(1...oneIn) == 1 }
    mutating func pick<T>(_ values: [T]) -> T { values[int(0...values.count - 1)] }

    /// Generates a complete response with an entity, without redirects.
    mutating func plain() -> FuzzResponse {
        let length = pick([0, 5, 40, 40, 400, 400, 3_000, chance(10) ? 70_000 : 20_000])
        let entity = FuzzEntity(seed: seed, length: length).data
        var message = FuzzMessage()
        var response = FuzzResponse(construct: "plain", isValid: true, first: message, bodies: [entity])
        response.status = pick([200, 200, 200, 200, 200, 201, 202, 203, 204, 404, 418, 500])
        var body = entity
        if response.status == 204 {
            response.bodies = [Data()]
            body = Data()
        }
        let isRange = response.status == 200 && door != .decode && !door.isUpload && chance(8)
        if isRange {
            let start = int(0...entity.count - 1)
            let end = int(start...entity.count - 1)
            response.range = "bytes=\(start)-\(end)"
            if chance(4) {
                response.construct = "range ignored"
            } else {
                response.construct = "range"
                response.status = 206
                body = entity[start...end]
                response.bodies = [Data(body)]
                message.add("Content-Range: bytes \(start)-\(end)/\(chance(4) ? "*" : "\(entity.count)")")
            }
        }
        message.statusLine = Data(
            "HTTP/1.\(chance(12) ? 0 : 1) \(response.status) \(pick(["OK", "", "Not so, or so"]))".utf8
        )
        if response.status == 200, chance(2) { message.add("ETag: \"\(seed)\"") }
        if !isRange, response.status != 204, body.count < 5_000, chance(6) {
            body = FuzzCoding.gzip(body)
            message.add("Content-Encoding: \(pick(["gzip", "GZIP", "x-gzip"]))")
        }
        frame(body, status: response.status, in: &message)
        decorate(&message)
        if door == .begin || door == .dataTask, !isRange, chance(12) {
            response.method = "HEAD"
            message.body = Data()
            response.bodies = [Data()]
        }
        response.first = message
        return response
    }

    mutating func valid() -> FuzzResponse {
        var response = plain()
        if chance(8) {
            response.next = response.first
            response.first = redirect(to: pick(goodLocations))
            response.construct = "redirect"
            decorate(&response.first)
            if response.method == "HEAD" { response.first.body = Data() }
        }
        return response
    }

    private mutating func frame(_ body: Data, status: Int, in message: inout FuzzMessage) {
        guard status != 204 else { return }
        let isOld = String(decoding: message.statusLine, as: UTF8.self).hasPrefix("HTTP/1.0")
        message.body = body
        switch int(0...9) {
        case 0...3 where !isOld:
            message.add("\(pick(["Transfer-Encoding", "transfer-encoding"])): \(pick(["chunked", "Chunked"]))")
            let sizes = (0..<int(0...6)).map { _ in int(1...max(1, body.count / 3)) }
            let extensions = pick(["", "", ";a=b", ";a=\"b c\"", ";a"])
            message.body = FuzzCoding.chunked(body, sizes: sizes, extensions: extensions, uppercase: chance(2))
        case 4:
            message.end = .close
            if chance(2) { message.add("Connection: close") }
        default:
            message.add("\(pick(["Content-Length", "content-length", "CONTENT-LENGTH"])): \(body.count)")
            if isOld || chance(20) {
                // Announced, since a request that the client sends on the closing connection would be lost.
                message.add("Connection: close")
                message.end = .close
            }
        }
    }

    /// Adds variations without effect: hints, header fields, and manners of delivery.
    mutating func decorate(_ message: inout FuzzMessage) {
        if chance(10) {
            let hints = ["100 Continue\r\n", "103 Early Hints\r\nLink: </a>\r\n", "102 Processing\r\n"]
            message.interim = (0..<int(1...4)).map { _ in Data("HTTP/1.1 \(pick(hints))\r\n".utf8) }
        }
        for number in 0..<int(0...5) {
            let length = chance(20) ? int(1...4_000) : int(1...20)
            let value = String((0..<length).map { _ in Character(UnicodeScalar(UInt8(int(0x21...0x7E)))) })
            let line = Data("X-\(number): \(value)".utf8)
            message.lines.insert(line, at: int(0...message.lines.count))
        }
        if chance(4) { message.add("Content-Type: application/json; charset=utf-8") }
        if chance(10) {
            message.add("Set-Cookie: a=b")
            message.add("Set-Cookie: c=d; Path=/")
        }
        switch int(0...19) {
        case 0 where message.bytes.count < 400: message.delivery = .drip(int(1...40))
        case 1...4: message.delivery = .pieces((0..<int(1...5)).map { _ in int(1...200) })
        case 5, 6: message.delivery = .lines
        default: break
        }
    }

    // MARK: Redirects

    mutating func redirect(to location: String) -> FuzzMessage {
        var message = FuzzMessage()
        message.statusLine = Data("HTTP/1.1 \(pick([301, 302, 303, 307, 308])) Elsewhere".utf8)
        message.add("Location: \(location)")
        let body = Data(chance(2) ? "".utf8 : "Over there".utf8)
        message.add("Content-Length: \(body.count)")
        message.body = body
        return message
    }

    private var goodLocations: [String] {
        [
            "/\(seed)/next", "http://\(authority)/\(seed)/next", "\(seed)/next", "./\(seed)/next", "../\(seed)/next",
            "//\(authority)/\(seed)/next", "/\(seed)/next?a=b&c=%20", "/\(seed)/next#here", "/x/../\(seed)/next",
            "HTTP://\(authority)/\(seed)/next",
        ]
    }
}
