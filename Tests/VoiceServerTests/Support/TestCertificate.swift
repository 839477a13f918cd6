/// A self-signed certificate for `localhost`, its key, and a key that does not belong to it; good for tests only.
enum TestCertificate {
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBSDCB7qADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9z
    dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
    bG9jYWxob3N0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEwsnvMPET1YrlbdN4
    Rmab/y8HccFchjzIcCdxDb8a1MnHz09Aieg8iM4IV46KVEoE2antoUYuT5xHwj0N
    llE72KMvMC0wGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMA8GA1UdEwEB/wQF
    MAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAM0TT4JnDixqMqEGsWGZhzlIv30YeR9F
    O1hRcc32SXvUAiEAybKECF2I6/tOD6kmIGXG2tEBkpB2bumkruugMgvgv6U=
    -----END CERTIFICATE-----
    """

  static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgRkGQF9C3qNnDZe5r
    aJy+94RVgiCyLp8XIDW+3i6gdRChRANCAATCye8w8RPViuVt03hGZpv/LwdxwVyG
    PMhwJ3ENvxrUycfPT0CJ6DyIzghXjopUSgTZqe2hRi5PnEfCPQ2WUTvY
    -----END PRIVATE KEY-----
    """

  static let otherKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdeTSBqoYk38E3Kp+
    EF8PtyVZz9GSEg8831WEmYH7Oe6hRANCAARpqA+pg9N+xOI5VpFWFGz2Tum/ijCT
    m7GiVYDw+BhfF4dopz9Bwmk6yjmcPNlPMVTXGmxMlcr2KvGYdaOQZ+VC
    -----END PRIVATE KEY-----
    """
}
