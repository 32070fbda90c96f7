//! Deserializers for members that may be absent, null or of the wrong type.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Absent, null and ill-typed all give the default. The value is read twice, which is fine for the
/// small members it is used on; texts that can be large are read with [`text`].
pub(super) fn or_default<'de, D, T>(input: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: serde::de::DeserializeOwned + Default,
{
    let raw = <&RawValue>::deserialize(input)?;
    Ok(serde_json::from_str(raw.get()).unwrap_or_default())
}

/// A string, or `None` for anything else.
pub(super) fn text<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    let raw = <&RawValue>::deserialize(input)?;
    if !raw.get().starts_with('"') {
        return Ok(None);
    }
    Ok(serde_json::from_str(raw.get()).ok())
}

/// Whether the member is an object.
pub(super) fn is_object<'de, D: Deserializer<'de>>(input: D) -> Result<bool, D::Error> {
    Ok(<&RawValue>::deserialize(input)?.get().starts_with('{'))
}

/// The elements of an array that can be read, in order; anything else is empty.
pub(super) fn elements<'de, D, T>(input: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    let raw = <&RawValue>::deserialize(input)?;
    let list: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    Ok(list.iter().filter_map(|element| serde_json::from_str(element.get()).ok()).collect())
}
