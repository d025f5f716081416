import DeferredCore
import TestSupport
import Testing

@testable import DeferredTask

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct TaskNodeChildrenTests {
    /// The handle of a task that never ends, and that nobody but the caller keeps.
    private func task(of node: TaskNode? = nil) -> TaskHandle {
        let storage = ProducerStorage<Task<Int>.Result>()
        return TaskHandle(TaskControl(storage, node.map { .children($0) } ?? .opaque))
    }

    @Test(arguments: [true, false])
    func `the only child of a stage takes its place, and that of a combination does not`(isStage: Bool) {
        let parents = TaskNode(expected: 1, isCollapsible: true)
        let children = TaskNode(expected: 1, isCollapsible: isStage)
        let child = task()
        parents.started(task(of: children), hasFailed: false)
        children.started(child, hasFailed: false)
        children.collapse()
        #expect(parents.running.count == 1)
        #expect((parents.running.first?.task.control === child.control) == isStage)
        #expect(children.running.isEmpty == isStage)
    }

    @Test func `a stage that somebody else keeps keeps its place`() {
        let parents = TaskNode(expected: 1, isCollapsible: true)
        let children = TaskNode(expected: 1, isCollapsible: true)
        let stage = task(of: children)
        parents.started(stage, hasFailed: false)
        children.started(task(), hasFailed: false)
        children.collapse()
        #expect(parents.running.first?.task.control === stage.control)
    }

    @Test func `a child that takes the place of a stage whose parent was cancelled is cancelled`() {
        let parents = TaskNode(expected: 1, isCollapsible: true)
        let children = TaskNode(expected: 1, isCollapsible: true)
        let child = task()
        parents.started(task(of: children), hasFailed: false)
        children.started(child, hasFailed: false)
        // Not yet told, as if the canceller was on its way.
        _ = parents.cancelChildren()
        children.collapse()
        #expect(child.isCancelled)
    }

    @Test func `a child that has started counts as one to come until its share is known`() {
        let children = Children(expected: 20, isOpenEnded: false, isCollapsible: false)
        for _ in 0..<4 {
            _ = children.end(children.start(task(), hasFailed: false).key, Share.stages(11, isDone: true).asChild())
        }
        #expect(children.share(Share(), isDone: false).fraction == 0.2)
        for _ in 0..<4 { _ = children.start(task(), hasFailed: false) }
        #expect(children.share(Share(), isDone: false).fraction == 0.2)
    }
}
