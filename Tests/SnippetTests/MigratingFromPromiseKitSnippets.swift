// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md.

import Deferred
import DeferredTesting
import Foundation
import TestSupport
import Testing

#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 152)
private struct User: Sendable { let name: String }
@MainActor private final class View { var image = ""; var isSpinning = true }
private func fetchUser(id: Int) -> Task<User> { .success(User(name: "Ada")) }
private func fetchAvatar(of user: User) -> Task<String> { .success("a picture of \(user.name)") }
@MainActor private func show(_ error: any Error) { print(error) }
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromPromiseKitSnippets {
    @Test func `What differs`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 20)



        let task = Task<Int>.failure(CancellationError())
        task.uponFailure(on: .main) { error in
            if error.isCancellation { return }
            print("show an alert: \(error.localizedDescription)")
        }
        let recovered = task.recover { error in
            if error.isCancellation { throw error }
            return 0
        }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 34)
        #expect(recovered.peek().map { (try? $0.get()) == nil } == true)
#sourceLocation()
    }

    @Test func `Name by name`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 119)
        @Sendable func close() -> Future<Void> { Future(value: ()) }
        let task = Task.success(1)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 123)
        let closed = Task(
            task.future.flatMap { result in close().map { result } },
            uponCancel: { task.cancel() }
        )
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 129)
        #expect(try await closed.value == 1)
#sourceLocation()
    }

    @Test @MainActor func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 160)
        let view = View()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 163)
        let avatar = fetchUser(id: 1).flatMap { fetchAvatar(of: $0) }
        avatar.uponSuccess(on: .mainActor) { view.image = $0 }
        avatar.uponFailure(on: .mainActor) { show($0) }
        avatar.upon(.mainActor) { _ in view.isSpinning = false }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 169)
        let end = Deferred<Void>()
        avatar.upon(.mainActor) { _ in end.fill() }
        await end.value
        #expect(view.image == "a picture of Ada" && !view.isSpinning)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 178)
        view.isSpinning = true
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 181)
        do {
            view.image = try await avatar.get()
        } catch {
            show(error)
        }
        view.isSpinning = false
#sourceLocation()
    }
}
