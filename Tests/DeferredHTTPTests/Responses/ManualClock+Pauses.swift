import DeferredHTTP
import DeferredTesting
import Testing

extension ManualClock {
    /// Lets pauses of so many seconds pass, one after the other, each until the moment before which nothing is requested.
    func pass(_ pauses: [Double], before stub: StubLoader) async throws {
        for pause in pauses {
            try await waitForSleepers()
            let count = stub.requests.count
            advance(by: .seconds(pause) - .milliseconds(1))
            #expect(stub.requests.count == count && sleeperCount == 1)
            advance(by: .milliseconds(1))
        }
    }
}
