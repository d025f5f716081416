import DeferredTesting

/// A file that the demonstration's server offers.
struct DemoFile: Sendable {
    static let all = [
        DemoFile(path: "/manual.pdf", length: 400_000, seconds: 1.2),
        // Breaks off once, and is resumed.
        DemoFile(path: "/sources.tar.gz", length: 2_500_000, seconds: 2.4, breaksOffAt: 1_400_000),
        DemoFile(path: "/film.mp4", length: 12_000_000, seconds: 4.2),
        DemoFile(path: "/radio.ogg", length: 900_000, seconds: 3.2, tellsLength: false),
    ]

    let path: String
    let length: Int
    let seconds: Double
    var breaksOffAt: Int?
    var tellsLength = true

    /// Between two pieces of what is sent.
    private static let interval = 0.02

    func script(for request: LoopbackServer.Request) -> LoopbackServer.Script {
        let first = offset(in: request.headers["Range"]) ?? 0
        let body = LoopbackServer.Payload.bytes(LoopbackServer.Payload.patternBytes(first..<length))
        let script: LoopbackServer.Script
        if !tellsLength {
            script = .untilClose(body: body)
        } else if first > 0 {
            let position = "bytes \(first)-\(length - 1)/\(length)"
            script = .response(status: 206, headers: ["ETag": entityTag, "Content-Range": position], body: body)
        } else {
            script = .response(headers: ["ETag": entityTag, "Accept-Ranges": "bytes"], body: body)
        }
        let slowed = script.dripped(Int(Double(length) / seconds * Self.interval), every: .seconds(Self.interval))
        guard first == 0, let breaksOffAt else { return slowed }
        return slowed.truncated(after: breaksOffAt)
    }

    private var entityTag: String { "\"\(length)\"" }

    private func offset(in range: String?) -> Int? {
        guard let range, range.hasPrefix("bytes="), range.hasSuffix("-") else { return nil }
        return Int(range.dropFirst(6).dropLast()).flatMap { (0..<length).contains($0) ? $0 : nil }
    }
}
