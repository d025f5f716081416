import DeferredCore

/// The operations of programs. One conformance is the library, the other is the model.
///
/// Operations return `nil` if the operands are of the wrong kind.
protocol Universe: AnyObject, Sendable {
    /// The type of the contents of slots.
    associatedtype Item: Sendable

    var counts: Counts { get }

    func deferred() -> Item
    func promise() -> Item
    func filled(_ value: Value) -> Item
    func task(_ producer: Item, _ reporter: Item?, failsOnCancel: Bool, _ onCancel: (@Sendable () -> Void)?) -> Item?
    func taskOfValue(_ future: Item) -> Item?
    func never() -> Item
    func task(of value: Value) -> Item
    func async(_ executor: any Executor, _ body: @escaping @Sendable () -> Value) -> Item
    func fill(_ producer: Item, _ value: Value) -> Bool?

    func upon(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item?
    func uponSuccess(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item?
    func uponFailure(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item?
    func uponCancel(_ item: Item, _ body: @escaping @Sendable () -> Void) -> Item?
    func uponProgress(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Double) -> Void) -> Item?

    func map(_ item: Item, core: Bool, _ executor: any Executor, _ body: @escaping Transformation) -> Item?
    func flatMap(_ item: Item, core: Bool, _ executor: any Executor, _ body: @escaping Transformation) -> Item?
    func ignored(_ item: Item, core: Bool) -> Item?
    func recover(_ item: Item, _ executor: any Executor, _ body: @escaping Transformation) -> Item?
    func mapError(_ item: Item, _ executor: any Executor, _ body: @escaping Transformation) -> Item?
    func always(_ item: Item, _ executor: any Executor, _ body: @escaping @Sendable (Value) -> Void) -> Item?
    func fallback(_ item: Item, _ executor: any Executor, _ body: @escaping Transformation) -> Item?
    func delay(_ item: Item, core: Bool, _ seconds: Int) -> Item?
    func timeout(_ item: Item, _ seconds: Int) -> Item?
    func retry(_ attempts: Int, _ pause: Int, _ executor: any Executor, _ body: @escaping Transformation) -> Item
    func shared(_ item: Item) -> Item?
    func cancelledBy(_ item: Item, _ source: Item) -> Item?

    func zip(_ one: Item, _ other: Item) -> Item?
    /// Performs `zip` of tasks, of which the second succeeds with a text.
    func zipTasks(_ one: Item, _ other: Item) -> Item?
    func allFilled(_ items: [Item]) -> Item
    func firstFilled(_ items: [Item]) -> Item
    func allSucceeded(_ items: [Item]) -> Item
    func firstSucceeded(_ items: [Item]) -> Item
    func firstCompleted(_ items: [Item]) -> Item
    func mapTasks(_ count: Int, _ limit: Int, _ body: @escaping Transformation) -> Item

    /// Cancels an item that can be cancelled: a task, a registration, a source, a request, a latest task, a progress.
    func cancel(_ item: Item) -> Bool
    func source() -> Item
    func linkedSource(_ items: [Item]) -> Item
    func register(_ source: Item, _ body: @escaping @Sendable () -> Void) -> Item?
    func cancelAfter(_ source: Item, _ seconds: Int)
    func request(_ item: Item) -> Item?
    func latest() -> Item
    func start(
        _ latest: Item,
        _ task: Item,
        _ executor: any Executor,
        _ body: @escaping @Sendable (Value) -> Void
    ) -> Bool
    /// Debounces: the task is the result of the closure.
    func startAfter(
        _ latest: Item,
        _ seconds: Int,
        _ executor: any Executor,
        _ begin: @escaping Transformation,
        _ body: @escaping @Sendable (Value) -> Void
    ) -> Bool

    func reporter() -> Item
    func report(_ reporter: Item, _ completed: Int)
    /// Returns the fraction of a task, or of a progress that is held.
    func fraction(_ item: Item) -> Double?
    func hold(_ task: Item) -> Item?

    func peek(_ item: Item) -> Value??
    /// Waits only as long as it takes to find that there is no value.
    func wait(_ item: Item) -> Value??
    func isCancelled(_ item: Item) -> Bool?
    func isTask(_ item: Item) -> Bool

    func advance(_ seconds: Int)
    /// Runs the pending work of timers.
    func runJobs()
    /// Runs `body` and collects the jobs of timers that it creates.
    func collectJobs(_ body: () -> Void)

    typealias Transformation = @Sendable (Value) -> Transformed<Item>
}

/// The result of a closure.
enum Transformed<Item> {
    case value(Value)
    case item(Item)
}
