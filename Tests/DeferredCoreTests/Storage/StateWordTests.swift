import TestSupport
import Testing

@testable import DeferredCore

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct StateWordTests {
    @Test func `a word is claimed once, and filled when it is published`() {
        let word = StateWord(filled: false)
        #expect(word.isFilled == false)
        #expect(word.hasHandlers == false)
        #expect(word.claim() == true)
        #expect(word.claim() == false)
        #expect(word.isFilled == false)
        #expect(word.publish().isEmpty == true)
        #expect(word.isFilled == true)
        #expect(word.claim() == false)
        #expect(word.claimOrWait() == false)
        let filled = StateWord(filled: true)
        #expect(filled.isFilled == true)
        #expect(filled.hasHandlers == false)
        #expect(filled.claim() == false)
    }

    @Test func `nodes are pushed while pending and claimed, not when filled, and are published newest first`() {
        let word = StateWord(filled: false)
        let nodes = (0..<4).map { _ in HandlerNode(.permanent()) }
        #expect(word.push(.passUnretained(nodes[0])) == true)
        #expect(word.push(.passUnretained(nodes[1])) == true)
        #expect(word.claim() == true)
        #expect(word.push(.passUnretained(nodes[2])) == true)
        #expect(word.claim() == false)
        #expect(word.hasHandlers == true)
        #expect(word.isFilled == false)
        let published = word.publish()
        #expect(word.hasHandlers == false)
        #expect(word.push(.passUnretained(nodes[3])) == false)
        #expect(indices(of: published, in: nodes) == [2, 1, 0])
        #expect(indices(of: published.reversed(), in: nodes) == [0, 1, 2])
        #expect(HandlerNode.List().reversed().isEmpty)
    }

    @Test(arguments: [false, true])
    func `handlers that can move are taken, and the word stays as it was otherwise`(isClaimed: Bool) {
        let word = StateWord(filled: false)
        let nodes = (0..<3).map { _ in HandlerNode(.permanent()) }
        for node in nodes[..<2] { #expect(word.push(.passUnretained(node)) == true) }
        if isClaimed { #expect(word.claim() == true) }
        #expect(word.takeMovable().map { indices(of: $0, in: nodes) } == [1, 0])
        #expect(word.isFilled == false)
        #expect(word.hasHandlers == false)
        #expect(word.takeMovable()?.isEmpty == true)
        #expect(word.push(.passUnretained(nodes[2])) == true)
        #expect(word.claim() == !isClaimed)
        #expect(indices(of: word.publish(), in: nodes) == [2])
        #expect(word.takeMovable().map { indices(of: $0, in: nodes) } == nil)
    }

    @Test(arguments: 0..<3, [false, true])
    func `no handlers are taken while one can be cancelled`(cancellable: Int, isClaimed: Bool) {
        let word = StateWord(filled: false)
        let owner = FutureStorage<Int>()
        let nodes = (0..<3).map { HandlerNode($0 == cancellable ? .waiting(for: owner) : .permanent()) }
        for node in nodes { #expect(word.push(.passUnretained(node)) == true) }
        if isClaimed { #expect(word.claim() == true) }
        #expect(word.takeMovable().map { indices(of: $0, in: nodes) } == nil)
        #expect(word.isFilled == false)
        #expect(word.remove(.passUnretained(nodes[cancellable])) == true)
        #expect(word.claim() == !isClaimed)
        let others = [2, 1, 0].filter { $0 != cancellable }
        #expect(word.takeMovable().map { indices(of: $0, in: nodes) } == others)
    }

    @Test(arguments: [false, true])
    func `an orphaned word gives its nodes away, and keeps none`(isClaimed: Bool) {
        let word = StateWord(filled: false)
        let nodes = (0..<3).map { _ in HandlerNode(.permanent()) }
        for node in nodes[..<2] { #expect(word.push(.passUnretained(node)) == true) }
        if isClaimed { #expect(word.claim() == true) }
        #expect(indices(of: word.orphan(), in: nodes) == [1, 0])
        #expect(word.hasHandlers == false)
        #expect(word.isFilled == false)
        #expect(word.remove(.passUnretained(nodes[0])) == false)
        #expect(word.push(.passRetained(nodes[2])) == true)
        #expect(word.hasHandlers == false)
        #expect(word.orphan().isEmpty)
        #expect(word.claim() == !isClaimed)
    }

    @Test func `a node that joins a second list forgets the first`() {
        let one = StateWord(filled: false)
        let other = StateWord(filled: false)
        let nodes = (0..<4).map { _ in HandlerNode(.permanent()) }
        for node in nodes[..<3] { #expect(one.push(.passUnretained(node)) == true) }
        #expect(one.remove(.passUnretained(nodes[0])) == true)
        // By now the nodes link to their neighbours in the first list.
        var list = one.publish().reversed()
        while let node = list.pop() { #expect(other.push(node) == true) }
        #expect(other.push(.passUnretained(nodes[3])) == true)
        #expect(other.remove(.passUnretained(nodes[1])) == true)
        #expect(indices(of: other.publish(), in: nodes) == [3, 2])
    }

    @Test(arguments: 0..<4, [false, true])
    func `any node is removed, and the word stays as it was otherwise`(removed: Int, isClaimed: Bool) {
        let word = StateWord(filled: false)
        let nodes = (0..<5).map { _ in HandlerNode(.permanent()) }
        for node in nodes[..<4] { #expect(word.push(.passUnretained(node)) == true) }
        if isClaimed { #expect(word.claim() == true) }
        #expect(word.remove(.passUnretained(nodes[removed])) == true)
        #expect(word.push(.passUnretained(nodes[4])) == true)
        #expect(word.claim() == !isClaimed)
        #expect(indices(of: word.publish(), in: nodes) == (0..<5).reversed().filter { $0 != removed })
        #expect(word.remove(.passUnretained(nodes[4])) == false)
    }

    #if os(macOS) || os(Linux)
    @Test func `removing a node that is not in the list traps`() async {
        await #expect(processExitsWith: .failure) {
            let word = StateWord(filled: false)
            let nodes = (0..<2).map { _ in HandlerNode(.permanent()) }
            _ = word.push(.passUnretained(nodes[0]))
            _ = word.remove(.passUnretained(nodes[1]))
        }
    }

    @Test func `a node that takes no value traps when it is given one`() async {
        await #expect(processExitsWith: .failure) {
            var drain = Drain()
            _ = HandlerNode(.permanent()).run(FutureStorage(filledWith: 1), &drain)
        }
    }
    #endif

    private func indices(of list: HandlerNode.List, in nodes: [HandlerNode]) -> [Int] {
        var (list, result) = (list, [Int]())
        while let node = list.head, result.count <= nodes.count {
            result.append(nodes.firstIndex { Unmanaged.passUnretained($0).toOpaque() == node.toOpaque() } ?? -1)
            list = HandlerNode.List(head: node._withUnsafeGuaranteedRef { $0.next })
        }
        return result
    }
}
