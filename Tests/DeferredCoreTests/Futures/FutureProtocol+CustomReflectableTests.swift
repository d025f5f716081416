import DeferredCore
import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct FutureProtocolCustomReflectableTests {
    @Test func `a description says whether a future is filled, and with what`() {
        let deferred = Deferred<String>()
        #expect("\(deferred)" == "Deferred<String>(unfilled)")
        #expect(deferred.future.debugDescription == "Future<String>(unfilled)")
        deferred.fill(with: "a")
        #expect(deferred.debugDescription == #"Deferred<String>(filled: "a")"#)
        #expect("\(deferred.future)" == #"Future<String>(filled: "a")"#)
        #expect("\(Future<Int?>(value: nil))" == "Future<Optional<Int>>(filled: nil)")
    }

    @Test func `a mirror shows the same`() {
        func children(_ subject: Any) -> [String] {
            Mirror(reflecting: subject).children.map { "\($0.label ?? "?"): \($0.value)" }
        }
        let deferred = Deferred<Int>()
        #expect(children(deferred) == ["isFilled: false"])
        deferred.fill(with: 1)
        #expect(children(deferred) == ["isFilled: true", "value: 1"])
        #expect(children(deferred.future) == ["isFilled: true", "value: 1"])
    }

    @Test func `dumping shows the value, not the storage, and registers nothing`() {
        let deferred = Deferred<Int>()
        var text = ""
        dump(deferred, to: &text)
        #expect(text.contains("unfilled") && text.contains("isFilled: false"))
        #expect(!text.contains("torage"))
        #expect(!deferred.storage.hasHandlers)
    }
}
