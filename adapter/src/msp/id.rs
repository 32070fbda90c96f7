//! Identities of the host. Each is its own type, opaque and compared for equality only: none of them
//! is parsed, ordered by value or built by the adapter (ENV-7, CUR-1, STY-21).

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! opaque {
    ($(#[$doc:meta] $name:ident;)*) => {$(
        #[$doc]
        #[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The text to echo, byte for byte.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:.64})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

opaque! {
    /// A session; the same text is the ACP session id (BIND-7).
    SessionId;
    /// A turn, minted by the host at admission (CMD-11).
    TurnId;
    /// An item of a session's view; for a tool call it is also the task id (ITM-5).
    ItemId;
    /// An approval, durable across restarts (APR-1).
    ApprovalId;
    /// One of the choices that the host offers for a requirement.
    ChoiceId;
    /// A question of the host to the person.
    UserInputId;
    /// A position in one session's view.
    ViewCursor;
}
