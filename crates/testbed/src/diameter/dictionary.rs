//! The numbers of commands, applications, AVPs and results.

/// An application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Application {
    /// The base protocol (RFC 6733 § 2.4).
    Base,
    /// Between CSCFs and the HSS (3GPP TS 29.229 § 6.1).
    Cx,
    /// Between the P-CSCF and the PCRF (3GPP TS 29.214 § 5.1).
    Rx,
}

impl Application {
    /// Its number.
    #[must_use]
    pub const fn id(self) -> u32 {
        match self {
            Self::Base => 0,
            Self::Cx => 16_777_216,
            Self::Rx => 16_777_236,
        }
    }
}

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// CER and CEA (RFC 6733 § 5.3).
    CapabilitiesExchange,
    /// DWR and DWA (RFC 6733 § 5.5).
    DeviceWatchdog,
    /// DPR and DPA (RFC 6733 § 5.4).
    DisconnectPeer,
    /// UAR and UAA (29.229 § 6.1.1).
    UserAuthorization,
    /// SAR and SAA (29.229 § 6.1.3).
    ServerAssignment,
    /// LIR and LIA (29.229 § 6.1.5).
    LocationInfo,
    /// MAR and MAA (29.229 § 6.1.7).
    MultimediaAuth,
    /// AAR and AAA (29.214 § 5.6.1).
    Aa,
    /// STR and STA (29.214 § 5.6.5).
    SessionTermination,
}

impl Command {
    /// Every command.
    pub const ALL: [Self; 9] = [
        Self::CapabilitiesExchange,
        Self::DeviceWatchdog,
        Self::DisconnectPeer,
        Self::UserAuthorization,
        Self::ServerAssignment,
        Self::LocationInfo,
        Self::MultimediaAuth,
        Self::Aa,
        Self::SessionTermination,
    ];

    /// Its code.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::CapabilitiesExchange => 257,
            Self::DeviceWatchdog => 280,
            Self::DisconnectPeer => 282,
            Self::UserAuthorization => 300,
            Self::ServerAssignment => 301,
            Self::LocationInfo => 302,
            Self::MultimediaAuth => 303,
            Self::Aa => 265,
            Self::SessionTermination => 275,
        }
    }

    /// The abbreviation of its request.
    #[must_use]
    pub const fn request_name(self) -> &'static str {
        match self {
            Self::CapabilitiesExchange => "CER",
            Self::DeviceWatchdog => "DWR",
            Self::DisconnectPeer => "DPR",
            Self::UserAuthorization => "UAR",
            Self::ServerAssignment => "SAR",
            Self::LocationInfo => "LIR",
            Self::MultimediaAuth => "MAR",
            Self::Aa => "AAR",
            Self::SessionTermination => "STR",
        }
    }

    /// The command with this code.
    #[must_use]
    pub fn of(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.code() == code)
    }
}

/// AVP codes. Those up to 515 without a note are of RFC 6733 § 4.5, RFC 4005 and RFC 4740; those of
/// 3GPP have its vendor number.
pub mod avp {
    /// User-Name: on Cx the private identity, IMPI.
    pub const USER_NAME: u32 = 1;
    /// Framed-IP-Address (RFC 4005 § 6.11.1).
    pub const FRAMED_IP_ADDRESS: u32 = 8;
    /// Session-Timeout.
    pub const SESSION_TIMEOUT: u32 = 27;
    /// Digest-Realm (RFC 4740 § 9.5.4).
    pub const DIGEST_REALM: u32 = 104;
    /// Digest-HA1 (RFC 4740 § 9.5.7).
    pub const DIGEST_HA1: u32 = 121;
    /// Host-IP-Address.
    pub const HOST_IP_ADDRESS: u32 = 257;
    /// Auth-Application-Id.
    pub const AUTH_APPLICATION_ID: u32 = 258;
    /// Vendor-Specific-Application-Id.
    pub const VENDOR_SPECIFIC_APPLICATION_ID: u32 = 260;
    /// Session-Id.
    pub const SESSION_ID: u32 = 263;
    /// Origin-Host.
    pub const ORIGIN_HOST: u32 = 264;
    /// Supported-Vendor-Id.
    pub const SUPPORTED_VENDOR_ID: u32 = 265;
    /// Vendor-Id.
    pub const VENDOR_ID: u32 = 266;
    /// Firmware-Revision.
    pub const FIRMWARE_REVISION: u32 = 267;
    /// Result-Code.
    pub const RESULT_CODE: u32 = 268;
    /// Product-Name.
    pub const PRODUCT_NAME: u32 = 269;
    /// Disconnect-Cause.
    pub const DISCONNECT_CAUSE: u32 = 273;
    /// Auth-Session-State.
    pub const AUTH_SESSION_STATE: u32 = 277;
    /// Origin-State-Id.
    pub const ORIGIN_STATE_ID: u32 = 278;
    /// Failed-AVP.
    pub const FAILED_AVP: u32 = 279;
    /// Destination-Realm.
    pub const DESTINATION_REALM: u32 = 283;
    /// Proxy-Info.
    pub const PROXY_INFO: u32 = 284;
    /// Authorization-Lifetime.
    pub const AUTHORIZATION_LIFETIME: u32 = 291;
    /// Destination-Host.
    pub const DESTINATION_HOST: u32 = 293;
    /// Termination-Cause.
    pub const TERMINATION_CAUSE: u32 = 295;
    /// Origin-Realm.
    pub const ORIGIN_REALM: u32 = 296;
    /// Experimental-Result.
    pub const EXPERIMENTAL_RESULT: u32 = 297;
    /// Experimental-Result-Code.
    pub const EXPERIMENTAL_RESULT_CODE: u32 = 298;
    /// Auth-Grace-Period.
    pub const AUTH_GRACE_PERIOD: u32 = 276;
    /// Inband-Security-Id.
    pub const INBAND_SECURITY_ID: u32 = 299;
    /// Subscription-Id (RFC 4006 § 8.46).
    pub const SUBSCRIPTION_ID: u32 = 443;
    /// AF-Application-Identifier (29.214 § 5.3.5), 3GPP's.
    pub const AF_APPLICATION_IDENTIFIER: u32 = 504;
    /// Reservation-Priority (ETSI TS 183 017), ETSI's.
    pub const RESERVATION_PRIORITY: u32 = 458;
    /// Flow-Description (29.214 § 5.3.8), 3GPP's.
    pub const FLOW_DESCRIPTION: u32 = 507;
    /// Flow-Number (29.214 § 5.3.9), 3GPP's.
    pub const FLOW_NUMBER: u32 = 509;
    /// Flow-Status (29.214 § 5.3.11), 3GPP's.
    pub const FLOW_STATUS: u32 = 511;
    /// Flow-Usage (29.214 § 5.3.12), 3GPP's.
    pub const FLOW_USAGE: u32 = 512;
    /// Specific-Action (29.214 § 5.3.13), 3GPP's.
    pub const SPECIFIC_ACTION: u32 = 513;
    /// Max-Requested-Bandwidth-DL (29.214 § 5.3.14), 3GPP's, bit/s.
    pub const MAX_BANDWIDTH_DL: u32 = 515;
    /// Max-Requested-Bandwidth-UL (29.214 § 5.3.15), 3GPP's, bit/s.
    pub const MAX_BANDWIDTH_UL: u32 = 516;
    /// Media-Component-Description (29.214 § 5.3.16), 3GPP's.
    pub const MEDIA_COMPONENT_DESCRIPTION: u32 = 517;
    /// Media-Component-Number (29.214 § 5.3.17), 3GPP's.
    pub const MEDIA_COMPONENT_NUMBER: u32 = 518;
    /// Media-Sub-Component (29.214 § 5.3.18), 3GPP's.
    pub const MEDIA_SUB_COMPONENT: u32 = 519;
    /// Media-Type (29.214 § 5.3.19), 3GPP's.
    pub const MEDIA_TYPE: u32 = 520;
    /// Codec-Data (29.214 § 5.3.7), 3GPP's.
    pub const CODEC_DATA: u32 = 524;
    /// Visited-Network-Identifier (29.229 § 6.3.1), 3GPP's.
    pub const VISITED_NETWORK_IDENTIFIER: u32 = 600;
    /// Public-Identity (29.229 § 6.3.2), 3GPP's.
    pub const PUBLIC_IDENTITY: u32 = 601;
    /// Server-Name (29.229 § 6.3.3), 3GPP's.
    pub const SERVER_NAME: u32 = 602;
    /// Server-Capabilities (29.229 § 6.3.4), 3GPP's.
    pub const SERVER_CAPABILITIES: u32 = 603;
    /// Mandatory-Capability (29.229 § 6.3.5), 3GPP's.
    pub const MANDATORY_CAPABILITY: u32 = 604;
    /// User-Data (29.229 § 6.3.7), 3GPP's.
    pub const USER_DATA: u32 = 606;
    /// SIP-Number-Auth-Items (29.229 § 6.3.8), 3GPP's.
    pub const SIP_NUMBER_AUTH_ITEMS: u32 = 607;
    /// SIP-Authentication-Scheme (29.229 § 6.3.9), 3GPP's.
    pub const SIP_AUTHENTICATION_SCHEME: u32 = 608;
    /// SIP-Auth-Data-Item (29.229 § 6.3.13), 3GPP's.
    pub const SIP_AUTH_DATA_ITEM: u32 = 612;
    /// SIP-Item-Number (29.229 § 6.3.14), 3GPP's.
    pub const SIP_ITEM_NUMBER: u32 = 613;
    /// Server-Assignment-Type (29.229 § 6.3.15), 3GPP's.
    pub const SERVER_ASSIGNMENT_TYPE: u32 = 614;
    /// User-Authorization-Type (29.229 § 6.3.24), 3GPP's.
    pub const USER_AUTHORIZATION_TYPE: u32 = 623;
    /// User-Data-Already-Available (29.229 § 6.3.26), 3GPP's.
    pub const USER_DATA_ALREADY_AVAILABLE: u32 = 624;
    /// SIP-Digest-Authenticate (29.229 § 6.3.36), 3GPP's.
    pub const SIP_DIGEST_AUTHENTICATE: u32 = 635;
    /// UAR-Flags (29.229 § 6.3.44), 3GPP's.
    pub const UAR_FLAGS: u32 = 637;
}

/// Result codes.
pub mod result {
    /// `DIAMETER_SUCCESS` (RFC 6733 § 7.1.2).
    pub const SUCCESS: u32 = 2_001;
    /// `DIAMETER_FIRST_REGISTRATION` (29.229 § 6.2.1.1), experimental.
    pub const FIRST_REGISTRATION: u32 = 2_001;
    /// `DIAMETER_SUBSEQUENT_REGISTRATION` (29.229 § 6.2.1.2), experimental.
    pub const SUBSEQUENT_REGISTRATION: u32 = 2_002;
    /// `DIAMETER_COMMAND_UNSUPPORTED` (RFC 6733 § 7.1.3).
    pub const COMMAND_UNSUPPORTED: u32 = 3_001;
    /// `DIAMETER_APPLICATION_UNSUPPORTED` (RFC 6733 § 7.1.3).
    pub const APPLICATION_UNSUPPORTED: u32 = 3_007;
    /// `DIAMETER_ERROR_USER_UNKNOWN` (29.229 § 6.2.2.1), experimental.
    pub const USER_UNKNOWN: u32 = 5_001;
    /// `DIAMETER_AVP_UNSUPPORTED` (RFC 6733 § 7.1.5).
    pub const AVP_UNSUPPORTED: u32 = 5_001;
    /// `DIAMETER_UNKNOWN_SESSION_ID` (RFC 6733 § 7.1.5).
    pub const UNKNOWN_SESSION_ID: u32 = 5_002;
    /// `DIAMETER_ERROR_IDENTITIES_DONT_MATCH` (29.229 § 6.2.2.2), experimental.
    pub const IDENTITIES_DONT_MATCH: u32 = 5_002;
    /// `DIAMETER_ERROR_IDENTITY_NOT_REGISTERED` (29.229 § 6.2.2.3), experimental.
    pub const IDENTITY_NOT_REGISTERED: u32 = 5_003;
    /// `DIAMETER_INVALID_AVP_VALUE` (RFC 6733 § 7.1.5).
    pub const INVALID_AVP_VALUE: u32 = 5_004;
    /// `DIAMETER_MISSING_AVP` (RFC 6733 § 7.1.5).
    pub const MISSING_AVP: u32 = 5_005;
    /// `REQUESTED_SERVICE_NOT_AUTHORIZED` (29.214 § 5.5), experimental.
    pub const REQUESTED_SERVICE_NOT_AUTHORIZED: u32 = 5_063;
    /// `IP-CAN_SESSION_NOT_AVAILABLE` (29.214 § 5.5), experimental.
    pub const IP_CAN_SESSION_NOT_AVAILABLE: u32 = 5_065;

    /// Whether the answer with this code has the flag E (RFC 6733 § 7.1.3).
    #[must_use]
    pub const fn is_protocol_error(code: u32) -> bool {
        code / 1_000 == 3
    }
}
