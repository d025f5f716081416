import Deferred

/// What a window with a search field shows: the results for the text in the field, and for no other.
@MainActor
final class SearchModel {
    private(set) var results: [String] = []
    private(set) var failure: (any Error)?

    /// Called when something else is to be shown.
    var onChange: @MainActor () -> Void = {}

    private let catalog: Catalog
    private let clock: any Clock<Duration>
    private let latest = LatestTask<[String]>()

    init(_ catalog: Catalog, clock: any Clock<Duration> = ContinuousClock()) {
        self.catalog = catalog
        self.clock = clock
    }

    /// Call this with every keystroke.
    func textChanged(to text: String) {
        latest.start(after: .milliseconds(300), clock: clock, on: .mainActor) { [catalog] in
            catalog.find(text)
        } deliver: { [weak self] result in
            self?.show(result)
        }
    }

    private func show(_ result: Result<[String], any Error>) {
        switch result {
        case .success(let results): (self.results, failure) = (results, nil)
        case .failure(let error): (results, failure) = ([], error)
        }
        onChange()
    }
}
