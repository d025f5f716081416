#if os(Linux)
package import Foundation

/// A server of HTTP/2 without TLS that answers with frames, also with those that a sound server wouldn't send.
///
/// It grants no windows: of a long body, a client sends the first 65,535 bytes.
package final class FrameServer: Sendable {
    /// A request, told of when its head arrives, and again when its body has ended.
    package struct Request: Sendable {
        /// The number of the connection, counted from 1.
        package let connection: Int
        package let stream: UInt32
        package let hasEnded: Bool
    }

    package enum Frame: Sendable {
        case headers(_ status: Int, _ fields: [String: String] = [:], ends: Bool = false)
        case data(_ text: String, ends: Bool = true)

        /// The fields behind a body, which end the stream.
        case trailers(_ fields: [String: String])
        case reset(code: UInt32)
        case goAway(last: UInt32)
        case close

        /// Lets what comes next be another packet.
        case pause

        fileprivate func bytes(on stream: UInt32) -> [UInt8] {
            switch self {
            case .headers(let status, let fields, let ends):
                // Literals, whose names are those of the static table or are spelled out: RFC 7541, section 6.2.2.
                let status = [8] + Self.literal("\(status)")
                return Self.frame(1, flags: ends ? 5 : 4, stream, status + Self.literals(fields))
            case .data(let text, let ends): return Self.frame(0, flags: ends ? 1 : 0, stream, Array(text.utf8))
            case .trailers(let fields): return Self.frame(1, flags: 5, stream, Self.literals(fields))
            case .reset(let code): return Self.frame(3, flags: 0, stream, Self.number(code))
            case .goAway(let last): return Self.frame(7, flags: 0, 0, Self.number(last) + Self.number(0))
            case .close, .pause: return []
            }
        }

        private static func literals(_ fields: [String: String]) -> [UInt8] {
            fields.flatMap { [[0], literal($0.key), literal($0.value)].joined() }
        }

        private static func literal(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }

        private static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }

        static func frame(_ kind: UInt8, flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
            number(UInt32(payload.count)).dropFirst() + [kind, flags] + number(stream) + payload
        }
    }

    package typealias Answer = @Sendable (Request) -> [Frame]

    package let url: URL

    /// The requests, by their heads.
    package let requests = Log<Request>()
    private let listener: Int32

    /// - Parameter answer: Returns frames, which are sent in one packet.
    package init(answer: @escaping Answer) throws {
        var address = sockaddr_in()
        let listener = try listeningSocket(at: &address, backlog: 64)
        self.listener = listener
        url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/") ?? URL(filePath: "/")
        Thread.detachNewThread { [requests] in
            for number in 1... {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { break }
                Thread.detachNewThread {
                    Self.serve(client, number, requests, answer)
                    Glibc.close(client)
                }
            }
            Glibc.close(listener)
        }
    }

    deinit {
        // Ends the thread, which closes the listener.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func serve(_ client: Int32, _ number: Int, _ requests: Log<Request>, _ answer: Answer) {
        let preface = 24
        guard read(preface, from: client) != nil, write(Frame.frame(4, flags: 0, 0, []), to: client) else { return }
        while let head = read(9, from: client) {
            let length = head[..<3].reduce(0) { $0 << 8 | Int($1) }
            guard let payload = read(length, from: client) else { return }
            let (kind, flags) = (head[3], head[4])
            let stream = head[5...].reduce(0) { $0 << 8 | UInt32($1) }
            switch kind {
            case 0 where flags & 1 == 0: continue
            case 0, 1:
                let request = Request(connection: number, stream: stream, hasEnded: flags & 1 != 0)
                if kind == 1 { requests.add(request) }
                guard Self.answer(answer(request), on: stream, to: client) else { return }
            case 4, 6:
                guard flags & 1 != 0 || write(Frame.frame(kind, flags: 1, 0, kind == 4 ? [] : payload), to: client)
                else { return }
            default: continue
            }
        }
    }

    /// Returns false if the connection is over.
    private static func answer(_ frames: [Frame], on stream: UInt32, to client: Int32) -> Bool {
        var bytes: [UInt8] = []
        for frame in frames {
            bytes += frame.bytes(on: stream)
            if case .pause = frame {
                guard write(bytes, to: client) else { return false }
                bytes = []
                usleep(20_000)
            }
        }
        guard write(bytes, to: client) else { return false }
        if case .close = frames.last { return false }
        return true
    }

    private static func read(_ count: Int, from client: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return count == 0 || recv(client, &bytes, count, Int32(MSG_WAITALL)) == count ? bytes : nil
    }

    private static func write(_ bytes: [UInt8], to client: Int32) -> Bool {
        bytes.isEmpty || send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}
#endif
