import ApusWebSocket
import HTTPTypes
import Testing

@Suite struct StoredRequestTests {
    @Test func aStoredRequestIsUnchanged() {
        var request = HTTPRequest(method: .get, scheme: "https", authority: "a.example:8443", path: "/chat?token=a%20b&x=+-")
        request.headerFields[.origin] = "https://a.example"
        request.headerFields[.userAgent] = ""
        request.headerFields.append(HTTPField(name: .cookie, value: "a=1; b=ü"))
        request.headerFields.append(HTTPField(name: .cookie, value: "+c=2"))
        #expect(StoredRequest(request).request == request)
    }

    @Test(arguments: ["", nil, "/", "-", "+"] as [String?])
    func anAbsentPathIsNotEmpty(path: String?) {
        let request = HTTPRequest(method: .options, scheme: nil, authority: nil, path: path)
        #expect(StoredRequest(request).request == request)
    }
}
