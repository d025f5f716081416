import Foundation

/// The files that a list of URLs asks for.
struct JobList {
    /// An argument that no file can be downloaded from.
    struct Rejected: Equatable {
        let argument: String
        let failure: DownloadFailure
    }

    private(set) var jobs: [DownloadJob] = []
    private(set) var rejected: [Rejected] = []

    init(_ arguments: [String], in directory: OutputDirectory) {
        var urls: [URL] = []
        var seen: Set<String> = []
        for argument in arguments {
            switch Self.url(from: argument) {
            case .success(let url):
                if seen.insert(url.absoluteString).inserted {
                    urls.append(url)
                }
            case .failure(let failure):
                rejected.append(Rejected(argument: argument, failure: failure))
            }
        }
        jobs = zip(urls, DistinctNames.names(for: urls)).map { url, name in
            DownloadJob(
                url: url,
                destination: directory.file(name),
                name: name,
                shownPath: directory.shownPath == "." ? name : "\(directory.shownPath)/\(name)"
            )
        }
    }

    /// The URL that is sent: without the fragment, which servers never see.
    private static func url(from argument: String) -> Result<URL, DownloadFailure> {
        guard !argument.isEmpty, let url = URL(string: argument) else {
            return .failure(.malformedURL("it is not a URL"))
        }
        guard let scheme = url.scheme, argument.contains("://") else {
            return .failure(.malformedURL("it has no scheme"))
        }
        guard ["http", "https"].contains(scheme.lowercased()) else {
            return .failure(.malformedURL("the scheme \"\(scheme)\" is neither http nor https"))
        }
        guard let host = url.host(percentEncoded: true), !host.isEmpty else {
            return .failure(.malformedURL("it has no host"))
        }
        guard let fragment = argument.firstIndex(of: "#") else { return .success(url) }
        return .success(URL(string: String(argument[..<fragment])) ?? url)
    }
}
