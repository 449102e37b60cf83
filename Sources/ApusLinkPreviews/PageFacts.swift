/// The description of a page, from its head.
package struct PageFacts: Equatable, Sendable {
    package var title: String?
    package var text: String?
    package var site: String?
    /// The URL of a picture, relative to the page.
    package var picture: String?

    /// The maximum lengths of `title`, `text` and `site`, in Unicode scalars.
    package static let titleLength = 300
    package static let textLength = 1_000
    package static let siteLength = 100

    package init() {}

    /// Reads the head of a page.
    ///
    /// Open Graph properties (ogp.me) take precedence over `twitter:` names, which take precedence
    /// over the title and description of HTML. The running time is linear in the number of bytes.
    ///
    /// - Parameters:
    ///   - bytes: The page, which may be truncated.
    ///   - contentType: The field `Content-Type` of the response.
    /// - Returns: `nil` if the page has no title, or if its text cannot be decoded.
    package init?(_ bytes: [UInt8], contentType: String?) {
        guard let text = PageText.decode(bytes, contentType: contentType) else { return nil }
        var reader = HeadReader(text)
        let (heading, values) = reader.read()
        func first(_ names: String..., limit: Int) -> String? {
            for name in names { if let value = values[name]?.shown(limit: limit) { return value } }
            return nil
        }
        guard let title = first("og:title", "twitter:title", limit: Self.titleLength) ?? heading?.shown(limit: Self.titleLength) else {
            return nil
        }
        self.title = title
        self.text = first("og:description", "twitter:description", "description", limit: Self.textLength)
        self.site = first("og:site_name", "application-name", limit: Self.siteLength)
        self.picture = first("og:image:secure_url", "og:image", "og:image:url", "twitter:image", limit: PageAddress.maximumBytes)
    }
}
