import ApusJSON
import Crypto
import Foundation
import Testing

@testable import ApusWebPush

@Suite struct PushEncryptionTests {
    /// RFC 8291, appendix A.
    @Test func theExampleOfRFC8291() throws {
        let subscription = try PushSubscription(json: [
            "endpoint": "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV",
            "keys": .object([
                "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                "auth": "BTBZMqHH6r4Tts7J_aSIgg",
            ]),
        ])
        let key = try P256.KeyAgreement.PrivateKey(
            rawRepresentation: try #require(Base64URL.decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")))
        let body = try PushEncryption.encrypt(
            Array("When I grow up, I want to be a watermelon".utf8), for: subscription, key: key,
            salt: try #require(Base64URL.decode("DGv6ra1nlYgDCS1FRnbzlw")))
        #expect(
            Base64URL.encode(body)
                == "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95"
                + "bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
    }

    /// RFC 8188, section 3.1.
    @Test func theExampleOfRFC8188() throws {
        let body = try PushEncryption.encode(
            Array("I am the walrus".utf8), input: try #require(Base64URL.decode("yqdlZ-tYemfogSmv7Ws5PQ")),
            salt: try #require(Base64URL.decode("I1BsxtFttlv3u_Oo94xnmw")), keyID: [], recordSize: 4_096)
        #expect(Base64URL.encode(body) == "I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
    }

    @Test func theLargestMessageFillsTheBodyThatServicesAccept() throws {
        let browser = P256.KeyAgreement.PrivateKey()
        let subscription = PushSubscription(
            endpoint: try #require(PushEndpoint("https://push.example.net/1")), key: browser.publicKey,
            secret: Array(repeating: 7, count: 16))
        let message = [UInt8](repeating: 65, count: PushEncryption.maximumBytes)
        let body = try PushEncryption.encrypt(
            message, for: subscription, key: P256.KeyAgreement.PrivateKey(), salt: Array(repeating: 1, count: 16))
        #expect(body.count == 4_096)
    }
}

@Suite struct VAPIDTests {
    @Test func aTokenNamesTheOriginAndIsSigned() throws {
        let key = P256.Signing.PrivateKey()
        let vapid = VAPID(key: key, contact: "mailto:push@example.com")
        let endpoint = try #require(PushEndpoint("https://push.example.net:8443/p/1?x=y"))
        let field = try vapid.authorization(for: endpoint, at: 1_453_523_768)
        let parts = field.split(separator: ", k=")
        #expect(field.hasPrefix("vapid t=") && parts.count == 2)
        #expect(String(parts[1]) == vapid.publicKey)
        let token = parts[0].dropFirst("vapid t=".count).split(separator: ".")
        try #require(token.count == 3)
        let texts = try token.prefix(2).map { String(decoding: try #require(Base64URL.decode($0)), as: UTF8.self) }
        #expect(texts[0] == #"{"typ":"JWT","alg":"ES256"}"#)
        #expect(texts[1] == #"{"aud":"https://push.example.net:8443","exp":1453566968,"sub":"mailto:push@example.com"}"#)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: try #require(Base64URL.decode(token[2])))
        #expect(key.publicKey.isValidSignature(signature, for: Array("\(token[0]).\(token[1])".utf8)))
    }

    @Test func withoutAContactTheTokenHasNone() throws {
        let field = try VAPID(key: P256.Signing.PrivateKey()).authorization(
            for: try #require(PushEndpoint("https://push.example.net/")), at: 0)
        let claims = try #require(Base64URL.decode(field.split(separator: ".")[1]))
        #expect(String(decoding: claims, as: UTF8.self) == #"{"aud":"https://push.example.net","exp":43200}"#)
    }
}

@Suite struct PushSubscriptionTests {
    @Test(
        arguments: [
            ("https://push.example.net/a?b=c#d", "push.example.net", 443, "/a?b=c"),
            ("HTTPS://Push.Example.NET:8443", "push.example.net", 8_443, "/"),
            ("https://[2001:db8::1]:1/x", "2001:db8::1", 1, "/x"), ("https://10.0.0.1?q", "10.0.0.1", 443, "/?q"),
        ])
    func anEndpointHasItsParts(url: String, host: String, port: Int, target: String) throws {
        let endpoint = try #require(PushEndpoint(url))
        #expect((endpoint.host, endpoint.port, endpoint.target) == (host, port, target))
    }

    @Test(
        arguments: [
            "http://push.example.net/", "https://", "https:///x", "https://user@host/", "https://host:0/", "https://host:65536/",
            "https://host:1x/", "https://ho st/", "https://höst/", "https://host\r\nX: y/", "https://[::1/", "https://[host]/",
            "ftp://host/",
            "https://a\\b/", "https://host:-1/", "javascript:alert(1)", "https://%31/", "",
        ])
    func otherURLsAreNotEndpoints(url: String) { #expect(PushEndpoint(url) == nil) }

    @Test(
        arguments: [
            (#"{}"#, "endpoint"), (#"{"endpoint":"https://a/"}"#, "keys.p256dh"),
            (#"{"endpoint":"https://a/","keys":{"p256dh":"AA"}}"#, "keys.p256dh"),
            (#"{"endpoint":"http://a/"}"#, "endpoint"),
            (
                #"{"endpoint":"https://a/","keys":{"#
                    + #""p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4","auth":"AA"}}"#,
                "keys.auth"
            ),
            (
                #"{"endpoint":"https://a/","keys":{"#
                    + #""p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw5","#
                    + #""auth":"BTBZMqHH6r4Tts7J_aSIgg"}}"#,
                "keys.p256dh"
            ),
        ])
    func aSubscriptionThatCannotBeUsedIsRefused(json: String, field: String) throws {
        let object = try #require(try JSONValue(jsonString: json).objectValue)
        #expect { try PushSubscription(json: object) } throws: { ($0 as? PushFieldError)?.field == field }
    }

    @Test func base64HasOneFormForEachValue() {
        for bytes in [[], [0], [255, 254], [1, 2, 3], [251, 255, 254, 253]] as [[UInt8]] {
            #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
        }
        #expect(Base64URL.decode("-_-_") == [0xFB, 0xFF, 0xBF])
        #expect(Base64URL.decode("AA==") == [0])
        for text in ["A", "AB", "A=", "AA=", "====", "A+", "AAAA=", "\u{e9}A"] { #expect(Base64URL.decode(text) == nil, "\(text)") }
    }
}
