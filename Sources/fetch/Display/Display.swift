/// Shows how downloads go.
@MainActor
protocol Display: AnyObject {
    /// How often ``refresh(_:now:)`` is wanted; nil for never.
    var refreshInterval: Duration? { get }

    func start()

    func refresh(_ files: [FileProgress], now: Duration)

    /// A file's download has ended, in one of the phases that mean this.
    func ended(_ file: FileProgress, path: String)

    /// A line for standard error.
    func report(_ line: String)

    /// The process is about to be stopped, as by Ctrl-Z.
    func suspend()

    /// The process goes on.
    func resume()

    /// The end. Nothing is called after this.
    func finish(_ files: [FileProgress], now: Duration)
}
