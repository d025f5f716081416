import TestSupport
import Testing

@testable import DeferredCore

private typealias Attachment = DeferredCore.Attachment

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct AttachmentTests {
    /// An object that knows whether it was made after the end.
    private final class Object: Sendable {
        let isBornEnded: Bool

        init(_ isBornEnded: Bool) {
            self.isBornEnded = isBornEnded
        }
    }

    enum State: CaseIterable { case empty, attached, ended, attachedAndEnded, endedAndAttached }

    private func prepare(_ attachment: borrowing Attachment, _ state: State) -> AnyObject? {
        switch state {
        case .empty:
            return nil
        case .attached:
            return attachment.attach(Object.init)
        case .ended:
            _ = attachment.end()
            return nil
        case .attachedAndEnded:
            let object = attachment.attach(Object.init)
            _ = attachment.end()
            return object
        case .endedAndAttached:
            _ = attachment.end()
            return attachment.attach(Object.init)
        }
    }

    @Test(arguments: State.allCases)
    func `the object that is there is given to everybody`(state: State) throws {
        let attachment = Attachment()
        let before = prepare(attachment, state)
        #expect(attachment.object === before)
        let object = try #require(attachment.attach(Object.init) as? Object)
        if let before { #expect(object === before) }
        #expect(attachment.object === object)
        #expect(object.isBornEnded == (state == .ended || state == .endedAndAttached))
    }

    @Test(arguments: State.allCases)
    func `the end is told to the object that is there`(state: State) {
        let attachment = Attachment()
        let before = prepare(attachment, state)
        #expect(attachment.end() === before)
        #expect(attachment.object === before)
    }

    @Test func `the object goes with the attachment, and not before`() {
        weak var object: Object?
        do {
            let attachment = Attachment()
            object = attachment.attach(Object.init) as? Object
            _ = attachment.end()
            #expect(object != nil)
        }
        #expect(object == nil)
    }
}
