import Foundation
import TestSupport

extension ResponseGenerator {
    /// The body of a complete second response to no request. A client that reuses the connection can't detect it.
    static let stray = Data("\"stray\"".utf8)

    /// The server's answer to unknown paths, to which odd redirects may lead.
    static let elsewhere = Data("\"elsewhere\"".utf8)

    mutating func hostile() -> FuzzResponse {
        var response = plain()
        let entity = response.bodies.first ?? Data()
        response.isValid = false
        switch isLibcurlTested && chance(4) ? 24 : int(0...23) {
        case 0, 1: spoilStatusLine(&response)
        case 2: flood(&response)
        case 3...5: spoilHeaders(&response)
        case 6, 7: spoilLength(&response)
        case 8: contradictFraming(&response)
        case 9, 10: spoilChunks(&response)
        case 11: spoilCoding(&response)
        case 12, 13: spoilRange(&response)
        case 14, 15: spoilRedirect(&response)
        case 16: addJunk(&response)
        case 17...20: cut(&response)
        case 21: flipByte(&response)
        case 22 where chance(2): stall(&response)
        case 22: challenge(&response)
        case 24: spoilLethally(&response)
        default: break
        }
        if door == .download { makeContinuation(&response, of: entity) }
        // Bytes after another response on the same connection may be taken for this one.
        response.bodies.append(Self.stray)
        return response
    }

    /// Replaces the framing with a `Content-Length`, without any coding.
    private func reframe(_ response: inout FuzzResponse) {
        let body = response.first.body.isEmpty ? Data() : response.bodies.first ?? Data()
        for name in ["Content-Length", "Transfer-Encoding", "Content-Encoding", "Connection"] {
            response.first.removeLines(name)
        }
        response.first.body = body
    }

    // MARK: Heads

    private mutating func spoilStatusLine(_ response: inout FuzzResponse) {
        response.construct = "status line"
        var line = pick([
            "HTTP/1.1 200", "HTTP/1.1  200 OK", "HTTP/1.1 200OK", "HTTP/1.1 007 X", "HTTP/1.1 000 X", "HTTP/1.1 -20 X",
            "HTTP/1.1 2000 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2 0 OK", "HTTP/1.1 abc", "HTTP/1.1", "HTTP/1.2 200 OK",
            "HTTP/1.10 200 OK", "HTTP/1.1\t200 OK", "HTTP/1.1 200 \u{E9}", "HTTP/1. 200 OK", "HTTP/1 200 OK",
            "HTTP/ 200 OK", "HTTP/0.9 200 OK", "HTTP/3.0 200 OK", "HTTP/4 200 OK", "SIP/2.0 200 OK", "ICY 200 OK",
            "RTSP/1.0 200 OK", "http/1.1 200 OK", " HTTP/1.1 200 OK", "", "\0", "HTTP/1.1 200 \0", "HTTP/1.1 200 a\rb",
            "garbage", "<html>", "HTTP/1.1 200 " + String(repeating: "x", count: 9_000),
        ])
        if chance(3) { line = "HTTP/1.1 \(int(102...999)) Odd" }
        response.first.statusLine = Data(line.utf8)
        response.bodies.append(Data())
        // A 1xx alone is no response: a close after it would crash the process.
        if line.hasPrefix("HTTP/1.1 1") { response.first.end = .reset } else { response.first.end = .close }
        response.acceptsPrefixes = true
        // A status without a body turns the body into surplus, and a malformed line may split the head in two.
    }

    private mutating func flood(_ response: inout FuzzResponse) {
        response.construct = "1xx flood"
        let status = pick([100, 102, 103, 150, 199])
        let line = "HTTP/1.1 \(status) Wait\r\nX-A: \(chance(5) ? String(repeating: "y", count: 500) : "b")\r\n\r\n"
        response.first.interim = Array(repeating: Data(line.utf8), count: chance(20) ? 400 : int(5...80))
    }

    private mutating func spoilHeaders(_ response: inout FuzzResponse) {
        response.construct = "header bytes"
        var line = Data(
            pick([
                "X-A:b", "X-A : b", ": b", "nonsense", "X-A:", "X-A: ", " folded: b", "\tfolded", "X A: b", "X-A: b\0c",
                "X-A: b\rc", "X-A: b\nX-B: c", "X-\u{E9}: b", "X-A: \u{1F600}", "X-A: \u{1}\u{7F}", "X-A:\tb\t",
                "X-A: \"unterminated", "X-A: a;b=\"", "Content-Type: ;;;", "Content-Type: text/plain; charset=",
                "Content-Disposition: attachment; filename=\"", "Set-Cookie: ;=;", "Set-Cookie:", "Date: never",
                "Connection: keep-alive, close", "Keep-Alive: timeout=-1", "Upgrade: h2c", "Upgrade: websocket",
                "Alt-Svc: h3=\":1\"", "Trailer: X", "Location:", "Location: /elsewhere", "Retry-After: -1",
                "Retry-After: 99999999999999999999", "Strict-Transport-Security: max-age=x", "ETag: W/\"", "ETag: \"a",
                "WWW-Authenticate: Basic", "Proxy-Authenticate: Basic realm=x", "Last-Modified: soon", "Age: -1",
                "Content-Range: bytes 0-0/1", "Content-Range: x", "Expires: -1", "Link: <", "Refresh: 0; url=/",
            ]).utf8
        )
        switch int(0...5) {
        case 0: line = bytes(int(1...200))
        case 1: line = Data("X-A: ".utf8) + bytes(int(1...60))
        case 2 where chance(6): line = Data("X-A: \(String(repeating: "z", count: int(90_000...120_000)))".utf8)
        case 3 where chance(4): line = Data((0..<int(50...300)).map { "X-\($0): a" }.joined(separator: "\r\n").utf8)
        default: break
        }
        response.first.lines.insert(line, at: int(0...response.first.lines.count))
        // libcurl waits for ever after a line that begins with a NUL.
        if isLibcurlTested, line.first == 0 { response.stalls = true }
        if chance(10) { response.first.lineEnd = Data("\n".utf8) }
        // A false end of the head turns the rest into the body.
        response.acceptsPrefixes = true
    }

    /// Returns any bytes except line feeds, which could form trailers, lengths and second heads, and except a carriage
    /// return at the start, which would end the head.
    private mutating func bytes(_ count: Int) -> Data {
        let bytes = (0..<count).map { _ in UInt8(int(0...255)) }
        return Data(bytes.enumerated().map { $1 == 0x0A || $0 == 0 && $1 == 0x0D ? 0x20 : $1 })
    }

    private mutating func flipByte(_ response: inout FuzzResponse) {
        response.construct = "flipped byte"
        // If the head doesn't end, a close would crash the process.
        response.first.end = .reset
        reframe(&response)
        response.first.add("Content-Length: \(response.first.body.count)")
        response.acceptsPrefixes = true
        response.first.delivery = .whole
        if chance(2), !response.first.lines.isEmpty {
            let index = int(0...response.first.lines.count - 1)
            let count = response.first.lines[index].count
            response.first.lines[index][int(0...count - 1)] = bytes(1)[0]
        } else {
            let index = int(0...response.first.statusLine.count - 1)
            response.first.statusLine[index] = bytes(1)[0]
            if response.first.statusLine.starts(with: Data("HTTP/2".utf8)) {
                response.first.statusLine = Data("HTTP/9 200".utf8)
            }
        }
    }

    // MARK: Framing

    private mutating func spoilLength(_ response: inout FuzzResponse) {
        reframe(&response)
        let body = response.first.body
        let count = body.count
        response.first.end = pick([.close, .close, .reset])
        switch int(0...6) {
        case 0:
            response.construct = "two lengths"
            response.first.add("Content-Length: \(count)")
            response.first.add("Content-Length: \(pick([count + 1, max(0, count - 1), 0, count + 700]))")
            if String(decoding: response.first.lines.last ?? Data(), as: UTF8.self) != "Content-Length: \(count)" {
                response.bodies = []
            }
        case 1:
            response.construct = "a length that is none"
            let text = pick([
                "abc", "+\(count)", "-\(count)", "\(count)x", "0x\(count)", "\(count).0", "1e3", "\(count) \(count)",
                "\(count),", ",\(count)", "\(count), \(count + 1)", "\(count);", "\"\(count)\"", "\u{661}", "-1", "--1",
            ])
            response.first.add("Content-Length: \(text)")
            response.bodies = []
        case 2:
            response.construct = "a longer length"
            response.first.add(
                "Content-Length: \(count + pick([1, 2, 500, 1 << 31, 1 << 40, 9_223_372_036_854_770_000 - count]))"
            )
            response.bodies = []
        case 3:
            response.construct = "a shorter length"
            let length = max(0, count - int(1...max(1, count)))
            response.first.add("Content-Length: \(length)")
            response.bodies = [Data(body.prefix(length))]
        case 4:
            response.construct = "an empty length"
            response.first.add("Content-Length:")
            response.first.add("X-Z: b")
        case 5:
            response.construct = "one length in two notations"
            response.first.add("Content-Length: \(count)")
            response.first.add("Content-Length: 0\(count)")
        default:
            response.construct = "one length twice"
            response.first.add(
                "Content-Length: \(pick(["\(count), \(count)", "\(count)\r\nContent-Length: \(count)"]))"
            )
        }
        // Without a body, no length is wrong.
        if response.status == 204 || response.method == "HEAD" { response.bodies.append(Data()) }
    }

    private mutating func contradictFraming(_ response: inout FuzzResponse) {
        response.construct = "length and chunks"
        reframe(&response)
        let body = response.first.body
        let length = pick(["0", "1", "\(body.count)", "\(body.count + 5)", "abc", "-1"])
        let coding = pick([
            "chunked", "chunked", "identity", "gzip, chunked", "chunked, chunked", "chunked, identity", "rot13",
        ])
        response.first.add("Transfer-Encoding: \(coding)")
        response.first.lines.insert(Data("Content-Length: \(length)".utf8), at: int(0...response.first.lines.count))
        if coding.contains("chunked") { response.first.body = FuzzCoding.chunked(body, sizes: [3, 9]) }
        response.first.end = .close
        response.bodies.append(Data())
        if coding == "identity" {
            // The length is the only framing.
            let count = Int(length) ?? -1
            response.bodies = (0...body.count).contains(count) ? [Data(body.prefix(count))] : []
            if response.status == 204 || response.method == "HEAD" { response.bodies.append(Data()) }
        } else if response.method != "HEAD", response.status != 204 {
            response.bodies = [body]
        }
    }

    private mutating func spoilChunks(_ response: inout FuzzResponse) {
        response.construct = "chunks"
        reframe(&response)
        let body = response.first.body
        response.first.add("Transfer-Encoding: chunked")
        response.first.end = .close
        let size = String(body.count, radix: 16)
        let text = body.isEmpty ? "" : String(decoding: body, as: UTF8.self)
        // A chunk of no bytes is followed only by the end: anything else would be a trailer.
        let odd = pick([
            "\(size);\(String(repeating: "x", count: 20_000))\r\n\(text)\r\n0\r\n\r\n",
            "0000\(size)\r\n\(text)\r\n0\r\n\r\n", "\(size)\n\(text)\r\n0\r\n\r\n", "\(size) \r\n\(text)\r\n0\r\n\r\n",
            " \(size)\r\n\(text)\r\n0\r\n\r\n", "-1\r\n\(text)\r\n0\r\n\r\n",
            "+\(size)\r\n\(text)\r\n0\r\n\r\n", "xyz\r\n\(text)", "fffffffffffffffff\r\n\(text)",
            "7fffffffffffffff\r\n\(text)",
            "ffffffffffffffff\r\n\(text)", "8000000000000000\r\n\(text)", "\r\n\(text)",
            "1\(size)\r\n\(text)\r\n0\r\n\r\n",
            "\(size)\r\n\(text)", "\(size)\r\n\(text)\r\n", "\(size)\r\n\(text)\r\n0", "\(size)\r\n\(text)\r\n0\r\n",
            "\(size)\r\n\(text)0\r\n\r\n", "2\r\n\(text)", "1\r\n\(text.prefix(1))\r\n\r\n", "",
            "\(size);;;=\"\"\u{1}\r\n\(text)\r\n0;last\r\n\r\n", "\(size)\r\n\(text)\r\n00000\r\n\r\n",
        ])
        // A size of zero would end the body at once, and turn the rest into trailers.
        response.first.body = Data((body.isEmpty ? "xyz\r\n" : odd).utf8)
        let isBodiless = response.status == 204 || response.method == "HEAD"
        response.bodies = isBodiless ? [body, Data()] : [body]
    }

    private mutating func spoilCoding(_ response: inout FuzzResponse) {
        response.construct = "coding"
        reframe(&response)
        let body = Data(response.first.body.prefix(60_000))
        var coded = FuzzCoding.gzip(body)
        var coding = "gzip"
        response.bodies = [body]
        switch int(0...6) {
        case 0:
            coded = FuzzCoding.gzip(body, checksum: 0)
            // This checksum is right only for no bytes.
            if !body.isEmpty { response.bodies = [Data()] }
        case 1: coded += Data("surplus".utf8)
        case 2:
            coding = pick(["br", "zstd", "deflate", "compress", "rot13", "gzip, gzip", "identity, gzip", ",", "*"])
            response.bodies.append(coded)
        case 3:
            coded = body
            // One byte is too few to be recognised as no gzip.
            if !isLibcurlTested, coded.count == 1 { response.bodies.append(Data()) }
        case 4:
            coding = "identity"
            coded = body
        case 5:
            // URLSession accepts a coded body that was cut before it was framed, since nothing checks for its end.
            let count = int(0...coded.count)
            if isLibcurlTested {
                response.bodies = count == 0 ? [Data()] : count == coded.count ? [body] : []
                if response.status == 204 || response.method == "HEAD" { response.bodies.append(Data()) }
            } else {
                response.acceptsPrefixes = true
            }
            coded = coded.prefix(count)
        default:
            coded[int(0...coded.count - 1)] ^= UInt8(int(1...255))
            // In the head of the coding, it may leave the body without an end, as if it had been cut.
            if !isLibcurlTested { response.acceptsPrefixes = true }
        }
        if response.method == "HEAD" { coded = Data() }
        response.first.body = coded
        response.first.add("Content-Encoding: \(coding)")
        response.first.add("Content-Length: \(coded.count)")
        response.first.end = pick([.keep, .close])
    }

    // MARK: Ranges

    private mutating func spoilRange(_ response: inout FuzzResponse) {
        reframe(&response)
        let body = FuzzEntity(seed: seed, length: 60).data
        let isAsked = door != .decode && !door.isUpload && chance(2)
        response.construct = "206 \(isAsked ? "" : "not ")asked for"
        response.method = nil
        response.first.removeLines("Content-Range")
        response.first.statusLine = Data("HTTP/1.1 206 Partial Content".utf8)
        response.range = isAsked ? pick(["bytes=10-19", "bytes=10-", "bytes=-10"]) : nil
        let total = body.count
        let from = response.range == "bytes=-10" ? total - 10 : 10
        let right = response.range == "bytes=10-" ? from...total - 1 : from...from + 9
        let fields = [
            "bytes \(right.lowerBound)-\(right.upperBound)/\(total)", "bytes 0-9/\(total)", "bytes 11-20/\(total)",
            "bytes \(right.lowerBound)-\(right.upperBound + 1)/\(total)", "bytes */\(total)", "bytes 10-9/\(total)",
            "bytes 10-19/15", "bytes 10-19", "bytes=10-19/\(total)", "lines 10-19/\(total)", "bytes -10/\(total)", "x",
            "",
            "bytes 10-99999999999999999999/\(total)", "bytes 10-19/-1",
        ]
        let field = chance(5) ? nil : chance(3) ? fields[0] : pick(fields)
        if let field { response.first.add("Content-Range: \(field)") }
        if chance(12) { response.first.add("Content-Type: multipart/byteranges; boundary=x") }
        let part = Data(body[right])
        var sent = part
        if chance(5) { sent += pick([Data("more".utf8), body]) } else if chance(5) { sent = Data(sent.dropLast()) }
        switch int(0...2) {
        case 0:
            response.first.add("Transfer-Encoding: chunked")
            response.first.body = FuzzCoding.chunked(sent, sizes: [4])
        case 1:
            response.first.body = sent
            response.first.end = .close
        default:
            response.first.add("Content-Length: \(sent.count)")
            response.first.body = sent
        }
        response.bodies = isAsked && field == fields[0] && sent == part ? [part] : []
    }

    /// Answers a download's request to resume: correctly, with another representation, or wrongly.
    private mutating func makeContinuation(_ response: inout FuzzResponse, of entity: Data) {
        let other = FuzzEntity(seed: seed + 1_000_003, length: 300).data
        response.bodies += [entity, other]
        let (choice, seed) = (int(0...6), seed)
        response.continuation = { offset in
            var message = FuzzMessage()
            func part(_ whole: Data, from start: Int, tag: String, field: String? = nil) {
                message.statusLine = Data("HTTP/1.1 206 Partial Content".utf8)
                let rest = Data(whole.dropFirst(start))
                message.add(field ?? "Content-Range: bytes \(start)-\(max(start, whole.count - 1))/\(whole.count)")
                message.add("ETag: \"\(tag)\"")
                message.add("Content-Length: \(rest.count)")
                message.body = rest
            }
            switch choice {
            case 0, 1: part(entity, from: offset, tag: "\(seed)")
            case 2: part(entity, from: max(0, offset - 1), tag: "\(seed)")
            case 3: part(other, from: min(offset, other.count - 1), tag: "other")
            case 4: part(entity, from: offset, tag: "\(seed)", field: "Content-Range: bytes */\(entity.count)")
            case 5:
                message.statusLine = Data("HTTP/1.1 416 Out of Range".utf8)
                message.add("Content-Range: bytes */\(offset + 1)")
                message.add("Content-Length: 0")
            default:
                message.add("ETag: \"other\"")
                message.add("Content-Length: \(other.count)")
                message.body = other
            }
            return message
        }
    }

    // MARK: Redirects and challenges

    private mutating func spoilRedirect(_ response: inout FuzzResponse) {
        response.construct = "redirect"
        response.next = response.first
        let port = authority.split(separator: ":").last ?? "80"
        response.first = redirect(
            to: pick([
                "", " ", "?", "#", "#here", "?again", ".", "..", "/", "//", "///", "/\(seed)", "http:", "http:/",
                "http://",
                "http:///next", "http:\(seed)/next", "http://[::1", "http://[::1]/", "http://127.0.0.1:99999/",
                "http://127.0.0.1:0/", "http://127.0.0.1:1/", "http://127.0.0.1:-1/", "http://127.0.0.1:x/",
                "ftp://127.0.0.1/",
                "file:///etc/passwd", "javascript:alert(1)", "data:,hello", "mailto:a@b", "ws://127.0.0.1/", "/%zz",
                "/%00",
                "/a b", "/\u{E9}", "\\\\127.0.0.1\\x", "/\\..\\..", "/../../../etc/passwd", "/\(seed)/next/../next",
                "http://user:secret@127.0.0.1:\(port)/\(seed)/next", "http://@127.0.0.1:\(port)/\(seed)/next",
                "/\(seed)/next\r\nLocation: /elsewhere", "/" + String(repeating: "long/", count: 1_600), "\0",
                "http://127.0.0.1:\(port)", "http://127.1:\(port)/", "http://0x7f.1:\(port)/", "<\(seed)/next>",
                "\"/next\"",
                "/\(seed)/next\u{1}", "://", ":", "http://127.0.0.1:\(port)#x", "http://127.0.0.1:\(port)?x",
            ])
        )
        if chance(6) { response.first.removeLines("Content-Length") }
        if String(decoding: response.first.head, as: UTF8.self).contains("Content-Length") == false {
            response.first.end = .close
        }
        if response.method == "HEAD" { response.first.body = Data() }
        // Some of the targets are other paths of the server, and some redirects are delivered with their own status.
        response.bodies += [Self.elsewhere, Data()]
    }

    private mutating func challenge(_ response: inout FuzzResponse) {
        response.construct = "challenge"
        reframe(&response)
        response.first.add("Content-Length: \(response.first.body.count)")
        response.first.statusLine = Data("HTTP/1.1 \(pick([401, 407])) Who are you".utf8)
        response.first.add(
            pick([
                "WWW-Authenticate: Basic realm=\"r\"", "WWW-Authenticate: Basic", "WWW-Authenticate: Bearer",
                "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\"", "WWW-Authenticate: ,,,", "WWW-Authenticate: \"",
                "Proxy-Authenticate: Basic realm=\"r\"", "WWW-Authenticate: Basic realm=\"r\", Negotiate", "X-A: b",
            ])
        )
    }

    // MARK: Ends

    private mutating func addJunk(_ response: inout FuzzResponse) {
        response.construct = "junk behind"
        let second = Data("HTTP/1.1 200 OK\r\nContent-Length: \(Self.stray.count)\r\n\r\n".utf8) + Self.stray
        let endsWithConnection = response.first.end == .close
        switch int(0...4) {
        case 0:
            // If the connection were kept, its later responses would be out of step.
            response.first.junk = second
            response.first.end = .close
        case 1: response.first.junk = Data("\r\n\r\n".utf8)
        case 2: response.first.junk = Data("surplus".utf8)
        case 3: response.first.junk = Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)
        default: response.first.junk = bytes(int(1...500))
        }
        if endsWithConnection, response.method != "HEAD", response.status != 204 {
            response.bodies.append(response.first.body + response.first.junk)
        }
    }

    private mutating func cut(_ response: inout FuzzResponse) {
        response.construct = "cut"
        let head = response.first.head.count
        let all = response.first.bytes.count
        let position = chance(3) ? int(0...all) : int(0...head + 20)
        response.first.cut = min(position, all)
        response.first.end = endOfCut(response, at: min(position, all))
        guard position < all else { return }
        let message = response.first
        let text = String(decoding: message.head, as: UTF8.self).lowercased()
        let isCounted = text.contains("\r\ncontent-length:")
        let isChunked = text.contains("\r\ntransfer-encoding:")
        if position < head {
            response.bodies = []
        } else if response.method == "HEAD" || response.status == 204 {
            return
        } else if isChunked {
            // Only the last bytes of the final chunk may be missing.
            if all - position > 4 { response.bodies = [] }
        } else if !isCounted, response.status != 206 {
            // The end of the connection is that of the body, so that a cut can't be detected, not even in a coded body.
            let plain = response.bodies.first ?? Data()
            response.bodies = [plain, Data(message.body.prefix(position - head))]
            if text.contains("content-encoding") {
                response.acceptsPrefixes = true
            } else {
                response.bodies.removeFirst()
            }
        } else {
            response.bodies = []
        }
    }

    /// Returns a close where it doesn't crash the process, and a reset elsewhere.
    private mutating func endOfCut(_ response: FuzzResponse, at position: Int) -> FuzzMessage.End {
        if chance(4) { return .reset }
        let message = response.first
        guard position < message.head.count else { return .close }
        if message.interim.isEmpty, position < message.statusLine.count + 2 { return .close }
        let text = String(decoding: message.bytes.prefix(position), as: UTF8.self).lowercased()
        guard message.interim.isEmpty, response.method == nil, response.status != 204,
            !String(decoding: message.head, as: UTF8.self).lowercased().contains("\r\ntransfer-encoding:"),
            text.firstRange(of: /\r\ncontent-length: [1-9][0-9]*\r\n/) != nil
        else { return .reset }
        return .close
    }

    private mutating func stall(_ response: inout FuzzResponse) {
        response.construct = "stall"
        response.stalls = true
        // Never after a complete response: its connection would be reused, and leave another request waiting.
        let isBodiless = response.method == "HEAD" || response.status == 204
        response.first.cut = int(0...(isBodiless ? response.first.head : response.first.bytes).count - 1)
        response.bodies = []
        response.first.end = .stall
    }
}
