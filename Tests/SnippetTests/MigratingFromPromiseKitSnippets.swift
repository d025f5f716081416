// swift-format-ignore-file
// Written by Documentation/snippets.py from Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md.

import Deferred
import DeferredTesting
import Foundation
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 74)
private struct User: Sendable { let name: String }
@MainActor private final class View { var image = ""; var isSpinning = true }
private func fetchUser(id: Int) -> Task<User> { .success(User(name: "Ada")) }
private func fetchAvatar(of user: User) -> Task<String> { .success("a picture of \(user.name)") }
@MainActor private func show(_ error: any Error) { print(error) }
#sourceLocation()

@Suite(.ownThread, .timeLimit(.minutes(1)))
struct MigratingFromPromiseKitSnippets {
    @Test @MainActor func `Before and after`() async throws {
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 82)
        let view = View()
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 85)
        let avatar = fetchUser(id: 1).flatMap { fetchAvatar(of: $0) }
        avatar.uponSuccess(on: .mainActor) { view.image = $0 }
        avatar.uponFailure(on: .mainActor) { show($0) }
        avatar.upon(.mainActor) { _ in view.isSpinning = false }
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 91)
        let end = Deferred<Void>()
        avatar.upon(.mainActor) { _ in end.fill() }
        await end.value
        #expect(view.image == "a picture of Ada" && !view.isSpinning)
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 100)
        view.isSpinning = true
#sourceLocation()
#sourceLocation(file: "Documentation/Deferred.docc/Articles/MigratingFromPromiseKit.md", line: 103)
        do {
            view.image = try await avatar.get()
        } catch {
            show(error)
        }
        view.isSpinning = false
#sourceLocation()
    }
}
