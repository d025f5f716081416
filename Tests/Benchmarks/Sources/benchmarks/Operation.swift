/// What is measured: one row of the table.
enum Operation: String, CaseIterable {
    case createDrop = "create + drop"
    case createFillPeek = "create + fill + peek"
    case createUponFill = "create + upon(.immediate) + fill"
    case mapChain = "8-stage map chain, then fill"
    case mapChainFilled = "8-stage map chain, filled before"
    case flatMapLoopFilled = "flatMap loop of 10,000, each filled"
    case flatMapLoopPending = "flatMap loop of 10,000, each waits"
    case zip = "zip of 8"
    case allFilled = "allFilled of 1,000"
    case firstFilled = "firstFilled of 1,000"
    case hundredHandlers = "100 handlers on one future"
    case registerCancel = "register + cancel"
    case awaitFilled = "await value, filled"
    case awaitUnfilled = "await value, unfilled"
    case contended = "2 threads: fill against register"

    /// How often the operation is repeated between two looks at the clock: so often that the look costs nothing, and so
    /// rarely that most batches end before another process gets the processor.
    var batch: Int {
        switch self {
        case .flatMapLoopFilled, .flatMapLoopPending, .allFilled, .firstFilled: 1
        case .hundredHandlers: 4
        case .mapChain, .mapChainFilled, .zip: 20
        case .contended: 5_000
        default: 100
        }
    }
}

/// Who is measured: one column of the table.
enum Subject: String, CaseIterable {
    case ours = "Deferred"
    case eventLoopFuture = "EventLoopFuture"
    case openCombine = "OpenCombine"
    case concurrency = "_Concurrency"
    case floor = "floor"

    /// How this subject does `operation`; `nil` if it has nothing like it.
    func body(of operation: Operation) -> Body? {
        switch self {
        case .ours: oursBody(operation)
        case .eventLoopFuture: eventLoopFutureBody(operation)
        case .openCombine: openCombineBody(operation)
        case .concurrency: concurrencyBody(operation)
        case .floor: floorBody(operation)
        }
    }
}

/// One subject's way to do one operation.
struct Body {
    /// Makes what is not measured, and returns what is.
    let prepare: (_ count: Int) -> () -> Void

    init(prepare: @escaping (_ count: Int) -> () -> Void) {
        self.prepare = prepare
    }

    /// Does `body` `count` times.
    init(_ body: @escaping () -> Void) {
        prepare = { count in { for _ in 0..<count { body() } } }
    }
}
