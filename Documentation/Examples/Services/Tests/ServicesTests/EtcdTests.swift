import Deferred
import DeferredTesting
import Foundation
import Testing

@testable import Services

/// Against the gateway's words, as etcd 3.4.23 has sent them.
@Suite(.timeLimit(.minutes(1)))
struct EtcdTests {
    private let server = HTTPEnvironment(scheme: "http", host: "etcd.example")
    private let clock = ManualClock()

    private static func header(_ revision: Int) -> String {
        #""header":{"cluster_id":"324952591200643719","member_id":"3319814642761637952","#
            + #""revision":"\#(revision)","raft_term":"2"}"#
    }

    private static func created(_ revision: Int) -> String {
        #"{"result":{\#(header(revision)),"created":true}}"# + "\n"
    }

    /// A line with changes of one key.
    private static func changes(_ revisions: Int...) -> String {
        let events = revisions.map { revision in
            let kv = #""key":"Zm9v","create_revision":"2","mod_revision":"\#(revision)","version":"1","value":"YmFy""#
            return #"{"kv":{\#(kv)}}"#
        }
        return #"{"result":{\#(header(9)),"events":[\#(events.joined(separator: ","))]}}"# + "\n"
    }

    private func value(_ revision: Int) throws -> Etcd.Revision {
        try JSONDecoder().decode([Etcd.Revision].self, from: Data("[\"\(revision)\"]".utf8))[0]
    }

    /// Reads the changes after revision 4 until there are as many as wanted.
    private func revisions(_ count: Int, over stub: StubLoader) -> Task<[Int]> {
        Task { [self] in
            var revisions: [Int] = []
            for try await changes in Etcd(server, over: stub, clock: clock).watch("foo", after: try value(4)) {
                revisions += changes.map(\.entry.revision.number)
                if revisions.count >= count { break }
            }
            return revisions
        }
    }

    @Test func `a value is written and read`() async throws {
        let entry = #"{"key":"Zm9v","create_revision":"2","mod_revision":"2","version":"1","value":"YmFy"}"#
        let empty = #"{"key":"Zm9vZA==","create_revision":"3","mod_revision":"3","version":"1"}"#
        let stub = StubLoader(
            expecting: .post("/v3/kv/put", .json("{\(Self.header(2))}")),
            .post("/v3/kv/range", .json(#"{\#(Self.header(3)),"kvs":[\#(entry),\#(empty)],"count":"2"}"#))
        )
        let etcd = Etcd(server, over: stub)
        #expect(try await etcd.put(Data("bar".utf8), as: "foo").number == 2)
        let (entries, revision) = try await etcd.range("foo")
        #expect(entries.map { String(decoding: $0.key, as: UTF8.self) } == ["foo", "food"])
        #expect(entries.map(\.value) == [Data("bar".utf8), nil] && revision.number == 3)
        #expect(
            try stub.requests.map { try $0.fields } == [
                ["key": "Zm9v", "value": "YmFy"], ["key": "Zm9v", "range_end": "Zm9w"],
            ]
        )
    }

    @Test func `a range is read again after a failure, and a value isn't written again`() async throws {
        let busy = StubLoader.Answer.response(503, headers: ["Retry-After": "0"])
        let stub = StubLoader(
            expecting: .post("/v3/kv/put", busy),
            .post("/v3/kv/range", busy, .json("{\(Self.header(3))}"))
        )
        let etcd = Etcd(server, over: stub)
        await #expect(throws: HTTPError.self) { try await etcd.put(Data(), as: "foo") }
        #expect(try await etcd.range("").entries == [])
        #expect(stub.requests.map(\.path) == ["/v3/kv/put", "/v3/kv/range", "/v3/kv/range"])
    }

    @Test func `a lease is kept alive until it has expired`() async throws {
        let kept = #"{"result":{\#(Self.header(2)),"ID":"2324035665145868551","TTL":"5"}}"#
        let expired = #"{"result":{\#(Self.header(2)),"ID":"2324035665145868551"}}"#
        let stub = StubLoader(
            expecting: .post(
                "/v3/lease/grant",
                .json(#"{\#(Self.header(2)),"ID":"2324035665145868551","TTL":"5"}"#)
            ),
            .post("/v3/lease/keepalive", .json(kept + "\n"), .json(expired + "\n"))
        )
        let etcd = Etcd(server, over: stub)
        let lease = try await etcd.grantLease(seconds: 5)
        try await etcd.keepAlive(lease)
        await #expect(throws: Etcd.LeaseExpired.self) { try await etcd.keepAlive(lease) }
        #expect(try stub.requests.map { try $0.fields["ID"] } == [nil, lease.id, lease.id])
    }

    @Test func `a watch goes on at the revision after the last one`() async throws {
        let stopping = #"{"error":{"grpc_code":14,"http_code":503,"message":"transport is closing"}}"# + "\n"
        let broken = Self.changes(8).dropLast(20)
        let stub = StubLoader(
            .response(body: Self.created(9) + Self.changes(5) + Self.changes(6, 7) + broken),
            .failure(.cannotConnect),
            .response(body: Self.created(9) + stopping),
            .response(body: Self.created(9) + Self.changes(8, 9))
        )
        let revisions = revisions(5, over: stub)
        for _ in 0..<3 {
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(60))
        }
        #expect(try await revisions.get() == [5, 6, 7, 8, 9])
        let starts = try stub.requests.map { request in
            try JSONDecoder().decode([String: [String: String]].self, from: request.bytes)["create_request"]
        }
        #expect(starts.map { $0?["start_revision"] } == ["5", "8", "8", "8"])
    }

    @Test func `changes that are compacted end a watch`() async throws {
        let canceled = #"{"result":{\#(Self.header(9)),"canceled":true,"compact_revision":"7"}}"# + "\n"
        let task = revisions(1, over: StubLoader(.response(body: Self.created(9) + canceled)))
        let error = await #expect(throws: Etcd.WatchEnded.self) { try await task.get() }
        #expect(error?.isCompacted == true)
    }
}

extension HTTPRequest {
    fileprivate var bytes: Data { body.pieces.reduce(into: Data()) { if case .data(let data) = $1 { $0 += data } } }
    fileprivate var fields: [String: String] {
        get throws { try JSONDecoder().decode([String: String].self, from: bytes) }
    }
}
