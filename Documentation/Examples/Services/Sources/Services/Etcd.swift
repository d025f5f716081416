import Deferred
import Foundation
import Synchronization

/// A client of etcd 3.4 or later, by its JSON gateway.
package struct Etcd: Sendable {
    /// A revision of the store: a number of 64 bits, which JSON has as text.
    package struct Revision: Decodable, Sendable, Hashable {
        package let number: Int
        package init(from decoder: any Decoder) throws {
            number = Int(try decoder.singleValueContainer().decode(String.self)) ?? 0
        }
    }

    package struct Entry: Decodable, Sendable, Hashable {
        package let key: Data
        /// `nil` if it is empty.
        package let value: Data?
        package let revision: Revision
        enum CodingKeys: String, CodingKey { case key, value, revision = "mod_revision" }
    }

    package struct Change: Decodable, Sendable, Hashable {
        let type: String?
        package let entry: Entry
        package var isDeletion: Bool { type == "DELETE" }
        enum CodingKeys: String, CodingKey { case type, entry = "kv" }
    }

    package struct Lease: Sendable, Hashable { let id: String }

    /// The lease has expired, and its keys are gone.
    package struct LeaseExpired: Error {}

    /// The server has ended a watch. If changes are compacted, the range has to be read again.
    package struct WatchEnded: Error { package let isCompacted: Bool }

    private let chain: HTTPChain
    private let clock: any Clock<Duration>

    /// - Parameter clock: Measures the pauses before a watch connects again.
    package init(_ server: HTTPEnvironment, over network: any HTTPLoader, clock: any Clock<Duration> = .continuous) {
        chain = Validate() --> Retry() --> ApplyEnvironment(server) --> network
        self.clock = clock
    }

    /// Writes a value. It isn't written again after a failure: watchers could see it twice.
    @discardableResult
    package func put(_ value: Data, as key: String, lease: Lease? = nil) async throws -> Revision {
        var fields = ["key": Self.text(key.utf8), "value": value.base64EncodedString()]
        fields["lease"] = lease?.id
        return (try await call("kv/put", fields) as Reply).header.revision
    }

    /// Returns the entries whose keys begin with a prefix, and the revision after which a watch of them begins.
    package func range(_ prefix: String) async throws -> (entries: [Entry], revision: Revision) {
        let reply: Reply = try await call("kv/range", Self.range(of: prefix), isRepeatable: true)
        return (reply.kvs ?? [], reply.header.revision)
    }

    /// Grants a lease. Keys with it are removed when it isn't kept alive.
    package func grantLease(seconds: Int) async throws -> Lease {
        Lease(id: (try await call("lease/grant", ["TTL": "\(seconds)"]) as Reply).id ?? "")
    }

    package func keepAlive(_ lease: Lease) async throws {
        let line: Line = try await call("lease/keepalive", ["ID": lease.id], isRepeatable: true)
        if line.result?.secondsLeft == nil { throw LeaseExpired() }
    }

    /// Returns the changes of the keys with a prefix after a revision, those of a line at a time, for one loop. None is
    /// lost and none comes twice if the server stops meanwhile: the next request goes on at the next revision.
    package func watch(_ prefix: String, after revision: Revision) -> some AsyncSequence<[Change], any Error> & Sendable
    {
        final class Place: Sendable { let revision = Atomic(0) }
        let place = Place()
        place.revision.store(revision.number, ordering: .relaxed)
        return chain.jsonLines(of: Line.self, clock: clock) { _ in
            var fields = Self.range(of: prefix)
            fields["start_revision"] = "\(place.revision.load(ordering: .relaxed) + 1)"
            return HTTPRequest(.post, path: "/v3/watch", body: try .json(["create_request": fields]))
        }.map { line in
            // A line without a result is the last one of a server that stops.
            if line.result?.canceled == true { throw WatchEnded(isCompacted: line.result?.compacted != nil) }
            // A line has all changes of its last revision.
            let changes = line.result?.events ?? []
            if let last = changes.last { place.revision.store(last.entry.revision.number, ordering: .relaxed) }
            return changes
        }
    }

    /// Sends a request: a POST each, also those that may be sent again since they only read, or do the same twice.
    private func call<T: Decodable>(_ name: String, _ fields: [String: String], isRepeatable: Bool = false) async throws
        -> T
    {
        var request = HTTPRequest(.post, path: "/v3/" + name, body: try .json(fields))
        request.isRepeatable = isRepeatable
        return try await chain.load(request).get().decode()
    }

    /// Returns the range of the keys with a prefix. It ends where the last byte of the prefix is one more.
    private static func range(of prefix: String) -> [String: String] {
        guard let last = prefix.utf8.last else { return ["key": text([0]), "range_end": text([0])] }
        return ["key": text(prefix.utf8), "range_end": text(Array(prefix.utf8.dropLast()) + [last + 1])]
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

    private struct Line: Decodable, Sendable { let result: Reply? }

    private struct Reply: Decodable, Sendable {
        struct Header: Decodable, Sendable { let revision: Revision }
        let header: Header
        let kvs: [Entry]?, events: [Change]?, canceled: Bool?, compacted: Revision?, id: String?, secondsLeft: String?
        enum CodingKeys: String, CodingKey {
            case header, kvs, events, canceled, compacted = "compact_revision", id = "ID", secondsLeft = "TTL"
        }
    }
}
