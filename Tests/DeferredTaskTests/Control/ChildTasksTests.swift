import DeferredCore
import TestSupport
import Testing

@testable import DeferredTask

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct ChildTasksTests {
    /// The control of a task that never ends, and that nobody but the caller keeps.
    private func control(of children: ChildTasks? = nil) -> TaskControl {
        let storage = ProducerStorage<Task<Int>.Result>()
        return TaskControl(storage, storage.words, children.map { .children($0) } ?? .opaque)
    }

    @Test(arguments: [true, false])
    func `the only child of a stage takes its place, and that of a combination does not`(isStage: Bool) {
        let parents = ChildTasks(expected: 1, isCollapsible: true)
        let children = ChildTasks(expected: 1, isCollapsible: isStage)
        let child = control()
        parents.started(control(of: children))
        children.started(child)
        children.collapse()
        #expect(parents.running.count == 1)
        #expect((parents.running.first === child) == isStage)
        #expect(children.running.isEmpty == isStage)
    }

    @Test func `a stage that somebody else keeps keeps its place`() {
        let parents = ChildTasks(expected: 1, isCollapsible: true)
        let children = ChildTasks(expected: 1, isCollapsible: true)
        let stage = control(of: children)
        parents.started(stage)
        children.started(control())
        children.collapse()
        #expect(parents.running.first === stage)
    }

    @Test func `a child that takes the place of a stage whose parent was cancelled is cancelled`() {
        let parents = ChildTasks(expected: 1, isCollapsible: true)
        let children = ChildTasks(expected: 1, isCollapsible: true)
        let child = control()
        parents.started(control(of: children))
        children.started(child)
        // Not yet told, as if the canceller was on its way.
        _ = parents.cancel()
        children.collapse()
        #expect(child.isCancelled)
    }
}
