extension Options {
    /// The text that `--help` prints.
    static let help = """
        Usage: fetch [OPTION]... [URL]...

        Downloads files in parallel, with one progress bar a file and a total line.
        Without URLs it shows itself: it starts a server on 127.0.0.1 that has four
        files of different sizes and speeds, and downloads those.

          -o, --output DIR     Put the files into DIR, which is created if necessary.
                               Default: the current directory; without URLs, a new
                               temporary one.
          -i, --input FILE     Read URLs from FILE, "-" for standard input: one a line,
                               and after a tab a name for its file. Lines that begin
                               with "#" are skipped.
          -n, -m, --max N      Download N files at a time, 1 to 100. Default: 4.
          -H, --header 'N: V'  Send this line with every request.
              --retries N      Try a file again up to N times. Default: 4.
              --timeout S      Wait S seconds for a silent server. Default: 30.
              --engine NAME    Use urlsession, the default, or libcurl, on Linux.
          -q, --quiet          Print nothing but errors.
          -h, --help           Print this text and exit.
          -V, --version        Print the version and exit.
          --                   Take everything after this as URLs.

        URLs begin with http:// or https://. One given twice is downloaded once. User
        names and passwords in URLs are never printed.

        A file is named after the last part of its URL's path, or index.html. Files
        that would have the same name get a mark made from their URL into it, the same
        one on every run. A complete file of that name is replaced.

        What has arrived lies in NAME.partial until all has. Run the same command again
        to go on from there; NAME.partial.validator tells whether the server still has
        the same file. Failures that may pass (no connection, a body cut short, a
        time-out, status 408, 429 or 5xx) are tried again after growing pauses, or when
        the server says; meanwhile another file takes the place. Ctrl-C ends all
        downloads and keeps what can be resumed. A second Ctrl-C does not wait for that.

        Without a terminal on standard output, or with TERM=dumb, each finished file is
        one line, and nothing else is printed there. NO_COLOR turns colours off.

        Exit status: 0 if all files are complete; 1 if some failed, with one line each
        on standard error, or if standard output can't be written; 2 for a command line
        that can't be understood; 130 after Ctrl-C (129 when the terminal closed, 143
        after SIGTERM).

          grep -o 'https://[^"]*[.]pdf' page.html | fetch --input -

        """
}
