import Foundation
import TestSupport
import Testing

@testable import DeferredNetworking

@Suite("Times of a transaction", .ownThread, .timeLimit(.minutes(1)))
struct TransactionTimesTests {
    @Test func `they count from the start of the transfer`() {
        let start = Date(timeIntervalSinceReferenceDate: 1_000)
        let metrics = URLClient.Metrics(
            start: start,
            nameLookup: start + 0.25,
            connect: start + 0.5,
            tlsHandshake: start + 1,
            firstByte: start + 2,
            end: start + 4,
            isReused: false,
            protocolName: "h2",
            address: "::1",
            port: "443"
        )
        #expect(metrics.nameLookup == .milliseconds(250) && metrics.connect == .milliseconds(500))
        #expect(metrics.tlsHandshake == .seconds(1) && metrics.firstByte == .seconds(2) && metrics.total == .seconds(4))
        #expect(metrics.protocolVersion == "HTTP/2" && metrics.address == "[::1]:443" && !metrics.isReused)
    }

    @Test func `those of a connection that was there already are zero`() {
        let start = Date(timeIntervalSinceReferenceDate: 1_000)
        let metrics = URLClient.Metrics(
            start: start,
            nameLookup: nil,
            connect: start - 3,
            tlsHandshake: nil,
            firstByte: nil,
            end: start + 1,
            isReused: true,
            protocolName: "http/1.1",
            address: "10.0.0.1",
            port: nil
        )
        #expect(metrics.nameLookup == .zero && metrics.connect == .zero && metrics.tlsHandshake == .zero)
        #expect(metrics.isReused && metrics.protocolVersion == "HTTP/1.1" && metrics.address == "10.0.0.1")
    }
}
