import DeferredCore
import TestSupport
import Testing

@testable import DeferredTask

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TaskCustomReflectableTests {
    private enum Failure: Error { case custom }

    @Test func `a description says how far the task has come`() {
        let promise = Task<String>.Promise()
        let task = Task(promise)
        #expect("\(task)" == "Task<String>(running)")
        #expect("\(promise)" == "Task<String>.Promise(unfilled)")
        task.cancel()
        #expect("\(task)" == "Task<String>(cancelled)")
        promise.succeed(with: "a")
        #expect("\(task)" == #"Task<String>(succeeded: "a")"#)
        #expect(promise.debugDescription.hasPrefix("Task<String>.Promise(filled: "))
        #expect(promise.debugDescription.contains(#"success("a")"#))
        let failed = Task<Int>.failure(Failure.custom).debugDescription
        #expect(failed.hasPrefix("Task<Int>(failed: ") && failed.hasSuffix("Failure.custom)"))
    }

    @Test func `dumping shows the state and not the storage, and registers nothing`() {
        let promise = Task<Int>.Promise()
        let task = Task(promise).map { $0 + 1 }
        for (isFilled, parts) in [
            (false, ["running", "isCancelled: false"]), (true, ["succeeded: 2", "result", "2"]),
        ] {
            if isFilled { promise.succeed(with: 1) }
            var text = ""
            dump(task, to: &text)
            dump(promise, to: &text)
            #expect(parts.allSatisfy(text.contains) && text.contains("isFilled: \(isFilled)"))
            #expect(!text.contains("torage") && !text.contains("ontrol"))
            #expect(!task.storage.hasHandlers)
        }
    }
}
