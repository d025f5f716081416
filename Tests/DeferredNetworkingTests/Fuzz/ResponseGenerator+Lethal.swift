import Foundation

/// Responses that crash or freeze a process with a client over URLSession on Linux. Only for clients over libcurl.
extension ResponseGenerator {
    mutating func spoilLethally(_ response: inout FuzzResponse) {
        switch int(0...11) {
        case 0...5: cutHead(&response)
        case 6, 7: addTrailers(&response)
        case 8, 9: makeLengthHuge(&response)
        case 10: claimHTTP2(&response)
        default: floodWithLines(&response)
        }
    }

    private mutating func cutHead(_ response: inout FuzzResponse) {
        response.construct = "a head that is cut"
        response.first.cut = int(0...response.first.head.count - 1)
        response.first.end = .close
        response.bodies = []
    }

    private mutating func addTrailers(_ response: inout FuzzResponse) {
        response.construct = "trailers"
        let entity = response.bodies.first ?? Data()
        for name in ["Content-Length", "Transfer-Encoding", "Content-Encoding"] { response.first.removeLines(name) }
        response.first.add("Transfer-Encoding: chunked")
        let trailer = pick([
            "X-A: b", "Content-Length: 1", "HTTP/1.1 500 No", "nonsense", ": b", "Location: /elsewhere",
            "Transfer-Encoding: identity", "X-A: \0", "Content-Encoding: gzip",
        ])
        let framed = FuzzCoding.chunked(entity, sizes: [int(1...40)])
        response.first.body = framed.dropLast(2) + Data("\(trailer)\r\n\r\n".utf8)
        if response.status == 204 || response.method == "HEAD" { response.first.body = Data() }
        response.first.end = pick([.keep, .close])
    }

    private mutating func makeLengthHuge(_ response: inout FuzzResponse) {
        response.construct = "a huge length"
        for name in ["Content-Length", "Transfer-Encoding"] { response.first.removeLines(name) }
        let length = pick([
            "9223372036854775295", "9223372036854775296", "9223372036854775806", "9223372036854775807",
            "9223372036854775808", "18446744073709551615", "18446744073709551616", "99999999999999999999999",
        ])
        response.first.add("Content-Length: \(length)")
        response.first.end = .close
        let isBodiless = response.status == 204 || response.method == "HEAD"
        response.bodies = isBodiless ? [Data()] : []
    }

    private mutating func claimHTTP2(_ response: inout FuzzResponse) {
        response.construct = "HTTP/2 over HTTP/1.1"
        response.first.statusLine = Data("\(pick(["HTTP/2", "HTTP/2.0"])) \(response.status) OK".utf8)
        response.first.end = pick([.keep, .close])
        // Without a length, an open connection means that more will follow.
        response.stalls = response.first.end == .keep
    }

    private mutating func floodWithLines(_ response: inout FuzzResponse) {
        response.construct = "very many lines"
        let name = pick(["a", "X-A", "Set-Cookie"])
        let count = pick([5_000, 20_000, 60_000])
        let isSame = chance(2)
        response.first.lines += (0..<count).map { Data("\(name)\(isSame ? "" : "\($0)"):b".utf8) }
        response.first.delivery = .whole
    }
}
