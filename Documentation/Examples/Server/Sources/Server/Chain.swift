import Deferred
import Logging

/// Returns a chain for a server's own requests to another one.
func makeChain(to server: HTTPEnvironment, over network: some HTTPLoader, _ logger: Logger) -> HTTPChain {
    ObserveRequests(logger: logger)  // before Retry: each request once
        --> Retry()
        --> ApplyEnvironment(server)
        --> TraceAttempts()  // after Retry: each attempt; after ApplyEnvironment: with the host
        --> network
}
