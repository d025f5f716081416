/// Sends requests to the first route that takes them, and others to the next loader.
///
/// ```swift
/// let chain = ResetGuard() --> Autocancel()
///     --> Router(.host("uploads.example.com", uploads), .init(metrics) { $0.path.hasPrefix("/metrics") })
///     --> Retry() --> URLSessionLoader()
/// ```
///
/// A route is a whole chain, with a terminal loader of its own. A reset of the chain resets all routes.
public struct Router: HTTPLink, ArrangedLink {
    /// A loader, and the requests that it takes.
    public struct Route: Sendable {
        let loader: any HTTPLoader
        let takes: @Sendable (HTTPRequest) -> Bool

        /// Creates a route.
        ///
        /// - Parameters:
        ///   - loader: The chain for the requests.
        ///   - takes: Returns true for the requests that the route takes. Called on the thread that loads.
        public init(_ loader: any HTTPLoader, where takes: @escaping @Sendable (HTTPRequest) -> Bool) {
            self.loader = loader
            self.takes = takes
        }

        /// A route for the requests to a host.
        ///
        /// - Parameters:
        ///   - name: The name of the host, compared without regard to case.
        ///   - loader: The chain for the requests.
        public static func host(_ name: String, _ loader: any HTTPLoader) -> Route {
            let name = name.lowercased()
            return Route(loader) { $0.host?.lowercased() == name }
        }
    }

    private let routes: [Route]

    /// Creates the loader.
    ///
    /// - Parameter routes: The routes, of which the first that takes a request loads it.
    public init(_ routes: Route...) {
        self.routes = routes
    }

    /// The loaders of the routes.
    public var successors: [any HTTPLoader] { routes.map(\.loader) }

    /// Passes the task on to its route.
    public func load(_ task: HTTPTask, next: any HTTPLoader) {
        task.pass(to: routes.first { $0.takes(task.request) }?.loader ?? next)
    }
}
