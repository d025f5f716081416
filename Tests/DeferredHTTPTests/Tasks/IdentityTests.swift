import Foundation
import TestSupport
import Testing

@testable import DeferredHTTP

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct IdentityTests {
    @Test func `identifiers are UUIDs of version 4, and different`() {
        let uuids = (0..<10_000).map { _ in Identity().uuid }
        #expect(Set(uuids).count == uuids.count)
        for uuid in uuids.prefix(100) {
            let text = uuid.uuidString
            #expect(text.dropFirst(14).first == "4" && "89AB".contains(text.dropFirst(19).prefix(1)))
        }
    }

    @Test func `a request keeps its own, a copy shares it`() {
        let (one, two) = (HTTPRequest(host: "host"), HTTPRequest(host: "host"))
        var copy = one
        copy.path = "/other"
        #expect(one.id != two.id && copy.id == one.id && one.id == one.id && one.path.isEmpty)
    }
}
