import Deferred

/// The logic behind a search field.
@MainActor
final class Search<Time: Clock<Duration>> {
    private let latest = LatestTask<[String]>()
    private let clock: Time
    private let find: @Sendable (String) -> Task<[String]>
    private let show: @MainActor ([String]) -> Void

    init(
        clock: Time,
        find: @escaping @Sendable (String) -> Task<[String]>,
        show: @escaping @MainActor ([String]) -> Void
    ) {
        (self.clock, self.find, self.show) = (clock, find, show)
    }

    /// Called on every keystroke.
    func textChanged(_ text: String) {
        latest.start(after: .milliseconds(300), clock: clock, on: .mainActor) {
            self.find(text)
        } deliver: { result in
            self.show((try? result.get()) ?? [])
        }
    }
}
