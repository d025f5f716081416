/// An operation to measure: one row of the table.
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

    case taskCreateFill = "Task: create + fill"
    case taskMapChain = "8-stage Task map chain, then fill"
    case taskMapChainRead = "8-stage Task map chain, progress read"
    case endsRead1500 = "ends of 1,500 tasks in allSucceeded, progress read"
    case endsRead3000 = "ends of 3,000 tasks in allSucceeded, progress read"
    case mapsRead = "end of a chain of 4,000 Task maps, progress read"
    case reportOf10 = "100 reports, 10 tasks in allSucceeded, progress read"
    case reportOf10000 = "100 reports, 10,000 tasks in allSucceeded, progress read"
    case taskFlatMapLoop = "Task: flatMap loop of 10,000, each waits"
    case taskValue = "Task { 1 }.value"
    case taskGet = "Task { 1 }.get()"
    case cancelWide = "cancel of 1,000 tasks by a token"
    case tokenRegister = "token: register + cancel"
    case tokenContended = "2 threads: register + cancel, one source"
    case tokenSeparate = "2 threads: register + cancel, a source each"

    static let futures = allCases.prefix { $0 != .taskCreateFill }
    static let tasks = allCases.drop { $0 != .taskCreateFill }

    /// True if threads wait for each other, so that no two runs are alike.
    var isOnTwoThreads: Bool { [.contended, .tokenContended, .tokenSeparate].contains(self) }

    /// The number of repetitions between two readings of the clock: high enough that the readings cost nothing, and low
    /// enough that most batches end before another process gets the processor.
    var batch: Int {
        switch self {
        case .endsRead1500, .endsRead3000, .mapsRead, .reportOf10, .reportOf10000: 1
        case .flatMapLoopFilled, .flatMapLoopPending, .taskFlatMapLoop, .allFilled, .firstFilled, .cancelWide: 1
        case .hundredHandlers: 4
        case .mapChain, .mapChainFilled, .zip, .taskMapChain, .taskMapChainRead: 20
        case .contended, .tokenContended, .tokenSeparate: 5_000
        default: 100
        }
    }
}

/// A library or technique to measure: one column of the table.
enum Subject: String, CaseIterable {
    case ours = "Deferred"
    case eventLoopFuture = "EventLoopFuture"
    case openCombine = "OpenCombine"
    case concurrency = "_Concurrency"
    case floor = "floor"
    /// A plain `Deferred` instead of a task, without cancellation or progress.
    case future = "a plain future"
    case mutexPerSource = "Mutex per source"
    case globalLock = "one global lock"
    /// One `Mutex`, locked and unlocked: a unit of comparison for the speed of this machine.
    case bareMutex = "bare Mutex"

    /// Returns this subject's implementation of `operation`; `nil` if it has no equivalent.
    func body(of operation: Operation) -> Body? {
        switch self {
        case .ours: oursBody(operation)
        case .eventLoopFuture: eventLoopFutureBody(operation)
        case .openCombine: openCombineBody(operation)
        case .concurrency: concurrencyBody(operation)
        case .floor: floorBody(operation)
        case .future: futureBody(operation)
        case .mutexPerSource: mutexPerSourceBody(operation)
        case .globalLock: globalLockBody(operation)
        case .bareMutex: bareMutexBody(operation)
        }
    }
}

/// One subject's implementation of one operation.
struct Body {
    /// Performs the part that is not measured, and returns the part that is.
    let prepare: (_ count: Int) -> () -> Void

    init(prepare: @escaping (_ count: Int) -> () -> Void) {
        self.prepare = prepare
    }

    /// Creates a body that runs a closure `count` times.
    init(_ body: @escaping () -> Void) {
        prepare = { count in { for _ in 0..<count { body() } } }
    }
}
