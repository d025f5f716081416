import Deferred
import ServiceLifecycle

/// A client that belongs to the services of a program.
///
/// A service group shuts its services down in the reverse order. So the client comes before the services that use it:
///
/// ```swift
/// let group = ServiceGroup(services: [ClientService(client: client), server], logger: logger)
/// ```
struct ClientService: Service {
    let client: URLClient

    /// Runs until the graceful shutdown, and then until the requests in flight have ended. New ones are refused meanwhile.
    /// If the group cancels its services, requests in flight are cancelled.
    func run() async {
        await withTaskCancellationHandler {
            // It throws when it is cancelled.
            try? await gracefulShutdown()
            await client.shutdown().value
        } onCancel: {
            _ = client.invalidateAndCancel()
        }
    }
}
