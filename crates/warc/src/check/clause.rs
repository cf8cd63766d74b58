//! The clauses of the standard that a finding can name, and the named fields they define.
//!
//! The two editions number their fields differently from 5.12 on, so a number depends on the edition that the record
//! claims to follow.

use std::fmt;

/// An edition of the standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Edition {
    /// ISO 28500:2009, `WARC/1.0`.
    V1_0,
    /// ISO 28500:2017, `WARC/1.1`.
    #[default]
    V1_1,
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_0 => "WARC 1.0",
            Self::V1_1 => "WARC 1.1",
        })
    }
}

/// The clause that a finding refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Clause {
    /// What a file, a record, and the head of a record consist of.
    Model,
    /// A named field occurs once in a record.
    Repeated,
    /// One named field: its syntax, and which records have it.
    Field(Field),
    /// The record that describes a file.
    Warcinfo,
    /// An answer over HTTP.
    HttpResponse,
    /// The answer of a name server.
    DnsResource,
    /// A request over HTTP.
    HttpRequest,
    /// Metadata about an answer.
    Metadata,
    /// A revisit whose content has the same digest.
    IdenticalDigest,
    /// A revisit with a profile that the standard does not define.
    OtherProfile,
    /// Records in several parts.
    Segmentation,
    /// One compressed member a record.
    RecordAtATime,
    /// The form of a gzip file.
    Gzip,
    /// The form of a zstandard frame.
    Zstd,
    /// What the frames of a `.warc.zst` file hold.
    ZstdFile,
}

impl Clause {
    /// The number that the clause has in an edition of the standard, or the name of the other document it is in.
    #[must_use]
    pub const fn number(self, edition: Edition) -> &'static str {
        match self {
            Self::Model => "4",
            Self::Repeated => "5.1",
            Self::Field(field) => field.clause(edition),
            Self::Warcinfo => "6.2",
            Self::HttpResponse => "6.3.2",
            Self::DnsResource => "6.4.4",
            Self::HttpRequest => "6.5.2",
            Self::Metadata => "6.6",
            Self::IdenticalDigest => "6.7.2",
            Self::OtherProfile => "6.7.4",
            Self::Segmentation => "7",
            Self::RecordAtATime => "D.2",
            Self::Gzip => "RFC 1952",
            Self::Zstd => "RFC 8878",
            Self::ZstdFile => "WARC-zstd 1.0",
        }
    }

    /// What the clause is about: the name of a field, or a few words.
    #[must_use]
    pub const fn subject(self) -> &'static str {
        match self {
            Self::Model => "record",
            Self::Repeated => "named fields",
            Self::Field(field) => field.name(),
            Self::Warcinfo => "warcinfo",
            Self::HttpResponse => "HTTP response",
            Self::DnsResource => "DNS resource",
            Self::HttpRequest => "HTTP request",
            Self::Metadata => "metadata",
            Self::IdenticalDigest => "identical payload digest",
            Self::OtherProfile => "profile",
            Self::Segmentation => "segments",
            Self::RecordAtATime => "record-at-a-time compression",
            Self::Gzip => "gzip",
            Self::Zstd => "zstandard",
            Self::ZstdFile => "zstandard frames",
        }
    }
}

macro_rules! fields {
    ($($variant:ident $name:literal $clause_1_0:literal $clause_1_1:literal;)*) => {
        /// The named fields that the standard defines.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Field {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Field {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The name as the standard writes it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
            /// The clause that defines it. A field that 1.0 lacks has its clause of 1.1.
            #[must_use]
            pub const fn clause(self, edition: Edition) -> &'static str {
                match (self, edition) {
                    $((Self::$variant, Edition::V1_0) => $clause_1_0, (Self::$variant, Edition::V1_1) => $clause_1_1,)*
                }
            }
        }
    };
}

fields! {
    RecordId "WARC-Record-ID" "5.2" "5.2";
    ContentLength "Content-Length" "5.3" "5.3";
    Date "WARC-Date" "5.4" "5.4";
    Type "WARC-Type" "5.5" "5.5";
    ContentType "Content-Type" "5.6" "5.6";
    ConcurrentTo "WARC-Concurrent-To" "5.7" "5.7";
    BlockDigest "WARC-Block-Digest" "5.8" "5.8";
    PayloadDigest "WARC-Payload-Digest" "5.9" "5.9";
    IpAddress "WARC-IP-Address" "5.10" "5.10";
    RefersTo "WARC-Refers-To" "5.11" "5.11";
    RefersToTargetUri "WARC-Refers-To-Target-URI" "5.12 of 1.1" "5.12";
    RefersToDate "WARC-Refers-To-Date" "5.13 of 1.1" "5.13";
    TargetUri "WARC-Target-URI" "5.12" "5.14";
    Truncated "WARC-Truncated" "5.13" "5.15";
    WarcinfoId "WARC-Warcinfo-ID" "5.14" "5.16";
    Filename "WARC-Filename" "5.15" "5.17";
    Profile "WARC-Profile" "5.16" "5.18";
    IdentifiedPayloadType "WARC-Identified-Payload-Type" "5.17" "5.19";
    SegmentNumber "WARC-Segment-Number" "5.18" "5.20";
    SegmentOriginId "WARC-Segment-Origin-ID" "5.19" "5.21";
    SegmentTotalLength "WARC-Segment-Total-Length" "5.20" "5.22";
}

impl Field {
    /// The field of that name, in whatever case it is written.
    #[must_use]
    pub fn called(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|field| field.name().eq_ignore_ascii_case(name))
    }
}
