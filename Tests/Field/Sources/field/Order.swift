import Deferred
import Foundation

/// A line of standard input, as JSON.
struct Order: Decodable, Sendable {
    enum Verb: String, Decodable {
        case open, get, upload, spool, download, stream, echo, crowd, cancel, shutdown, drop
    }

    let verb: Verb

    /// The name of the request; with a count above 1, those of its requests are `id.0`, `id.1` and so on.
    var id = ""
    var count = 1
    var url = URL(filePath: "/")
    var method = "GET"

    /// The file to download to or to upload, or that a body must be equal to.
    var file: URL?

    /// The number of bytes to send.
    var size = 0
    var settings = Settings()

    private enum Key: CodingKey { case verb, id, count, url, method, file, size, settings }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        verb = try values.decode(Verb.self, forKey: .verb)
        id = try values.decodeIfPresent(String.self, forKey: .id) ?? id
        count = try values.decodeIfPresent(Int.self, forKey: .count) ?? count
        url = try values.decodeIfPresent(URL.self, forKey: .url) ?? url
        method = try values.decodeIfPresent(String.self, forKey: .method) ?? method
        file = try values.decodeIfPresent(String.self, forKey: .file).map { URL(filePath: $0) }
        size = try values.decodeIfPresent(Int.self, forKey: .size) ?? size
        settings = try values.decodeIfPresent(Settings.self, forKey: .settings) ?? settings
    }
}

/// The settings of a client. Times are in seconds; those that are missing are the library's defaults, but for deadlines and
/// attempts: none, and one.
struct Settings: Decodable, Sendable {
    var idle: Double?
    var head: Double?
    var total: Double?
    var attempts: Int?
    var connections: Int?
    var inFlight: Int?
    var authorities: String?
    var version: Int?
    var cache: String?

    var configuration: URLClient.Configuration {
        var configuration = URLClient.Configuration()
        configuration.proxy = .none
        configuration.deadlines = .init(
            idle: idle.map { .seconds($0) },
            connectToHead: head.map { .seconds($0) },
            total: total.map { .seconds($0) }
        )
        configuration.retries.attempts = attempts ?? 1
        if let connections { configuration.maximumConnectionsPerHost = connections }
        configuration.maximumRequestsInFlight = inFlight
        if let authorities { configuration.tls.authorities = .file(URL(filePath: authorities)) }
        if let version { configuration.httpVersion = version == 2 ? .http2 : .http1_1 }
        if let cache { configuration.cache = Cache(.disk(at: URL(filePath: cache))) }
        return configuration
    }
}
