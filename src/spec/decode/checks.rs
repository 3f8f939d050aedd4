//! `checks` of a spec: skipped checks and expected failures, each of which must match a check of
//! the spec.

use crate::spec::{
    Checks, SkippedCheck, Xfail,
    fields::{LONGEST_REASON, MappingFields, SpecDecoder, required_text, required_variant},
    tree::Node,
};
use jiff::civil::Date;
use testgen_base::{date::parse_date, text::Quoted};
use testgen_types::{
    Architecture, Check, DeviceKind, Precision, Registration, engine_checks, required_checks,
};

const LONGEST_OWNER: usize = 100;
const CHECKS_KEYS: &[&str] = &["skip", "xfail"];
const SKIP_KEYS: &[&str] = &["check", "device", "precision", "reason"];
const XFAIL_KEYS: &[&str] = &["check", "device", "precision", "reason", "owner", "expires"];

/// The other fields of the spec, where they are valid.
pub(super) struct SpecContext<'a> {
    pub(super) architecture: Option<Architecture>,
    pub(super) devices: Option<&'a [DeviceKind]>,
    pub(super) precisions: Option<&'a [Precision]>,
}

pub(super) fn checks(decoder: &mut SpecDecoder, node: &Node, context: &SpecContext<'_>) -> Checks {
    let Some(fields) = decoder.mapping(node, "checks", CHECKS_KEYS, &[]) else {
        return Checks::default();
    };
    // Before `xfail`, which is compared with it.
    let skip = fields
        .optional("skip")
        .map(|node| skips(decoder, node, context))
        .unwrap_or_default();
    let xfail = fields
        .optional("xfail")
        .map(|node| xfails(decoder, node, context, &skip))
        .unwrap_or_default();
    Checks { skip, xfail }
}

fn skips(decoder: &mut SpecDecoder, node: &Node, context: &SpecContext<'_>) -> Vec<SkippedCheck> {
    let mut skips: Vec<SkippedCheck> = Vec::new();
    for (path, item) in decoder.items(node, "checks.skip") {
        let Some(skip) = skip(decoder, item, &path, context) else {
            continue;
        };
        if skips.iter().any(|other| {
            (other.check, other.device, other.precision)
                == (skip.check, skip.device, skip.precision)
        }) {
            decoder.complain(
                item,
                format!("`{path}` skips `{}` a second time", skip.check),
                None,
            );
        }
        skips.push(skip);
    }
    skips
}

fn xfails(
    decoder: &mut SpecDecoder,
    node: &Node,
    context: &SpecContext<'_>,
    skips: &[SkippedCheck],
) -> Vec<Xfail> {
    let mut xfails: Vec<Xfail> = Vec::new();
    for (path, item) in decoder.items(node, "checks.xfail") {
        let Some(xfail) = xfail(decoder, item, &path, context) else {
            continue;
        };
        if xfails.iter().any(|other| key(other) == key(&xfail)) {
            decoder.complain(
                item,
                format!("`{path}` expects `{}` to fail a second time", xfail.check),
                None,
            );
        }
        if skips
            .iter()
            // Equal entries alone: a check may be skipped on one device and expected to fail on the
            // others.
            .any(|skip| (skip.check, skip.device, skip.precision) == key(&xfail))
        {
            let message = format!(
                "`{path}` expects `{}` to fail, but `checks.skip` skips it",
                xfail.check
            );
            decoder.complain(item, message, Some("remove one of the two".to_owned()));
        }
        xfails.push(xfail);
    }
    xfails
}

fn skip(
    decoder: &mut SpecDecoder,
    node: &Node,
    path: &str,
    context: &SpecContext<'_>,
) -> Option<SkippedCheck> {
    let fields = decoder.mapping(node, path, SKIP_KEYS, &["check", "reason"])?;
    // Every key is read before one is missed, so that all problems are reported.
    let matcher = matcher(decoder, node, &fields, path, &context.skippable());
    let reason = required_text(decoder, &fields, "reason", LONGEST_REASON);
    let Matcher {
        check,
        device,
        precision,
    } = matcher?;
    Some(SkippedCheck {
        check,
        device,
        precision,
        reason: reason?,
    })
}

fn xfail(
    decoder: &mut SpecDecoder,
    node: &Node,
    path: &str,
    context: &SpecContext<'_>,
) -> Option<Xfail> {
    let fields = decoder.mapping(
        node,
        path,
        XFAIL_KEYS,
        &["check", "owner", "expires", "reason"],
    )?;
    // As in `skip`.
    let matcher = matcher(decoder, node, &fields, path, &context.native());
    let reason = required_text(decoder, &fields, "reason", LONGEST_REASON);
    let owner = required_text(decoder, &fields, "owner", LONGEST_OWNER);
    let expires = date(decoder, &fields, "expires");
    let Matcher {
        check,
        device,
        precision,
    } = matcher?;
    Some(Xfail {
        check,
        device,
        precision,
        reason: reason?,
        owner: owner?,
        expires: expires?,
    })
}

fn date(decoder: &mut SpecDecoder, fields: &MappingFields<'_>, key: &str) -> Option<Date> {
    let node = fields.optional(key)?;
    // The form of a date limits its length.
    let text = decoder.text(node, &fields.key(key), usize::MAX)?;
    let date = parse_date(text);
    if date.is_none() {
        let help = "write the last day on which the failure is expected, for instance `2027-01-31`";
        decoder.complain(
            node,
            format!("`{}` {} is not a date", fields.key(key), Quoted(text)),
            Some(help.to_owned()),
        );
    }
    date
}

/// The checks that an entry matches.
struct Matcher {
    check: Check,
    device: Option<DeviceKind>,
    precision: Option<Precision>,
}

/// Reads `check`, `device` and `precision`, which must match at least one of `checks`; `None` if
/// these are not known.
fn matcher(
    decoder: &mut SpecDecoder,
    node: &Node,
    fields: &MappingFields<'_>,
    path: &str,
    checks: &Option<Vec<Registration>>,
) -> Option<Matcher> {
    let check = required_variant(decoder, fields, "check");
    let device = fields
        .optional("device")
        .map(|node| decoder.variant::<DeviceKind>(node, &fields.key("device")));
    let precision = fields
        .optional("precision")
        .map(|node| decoder.variant::<Precision>(node, &fields.key("precision")));
    // Neither is a value, nor absent: the error has been reported.
    if device == Some(None) || precision == Some(None) {
        return None;
    }
    let matcher = Matcher {
        check: check?,
        device: device.flatten(),
        precision: precision.flatten(),
    };
    let matched = |checks: &Vec<Registration>| checks.iter().any(|check| matcher.matches(check));
    // The error of a field that decides the checks has already been reported.
    if !checks.as_ref().is_none_or(matched) {
        let message = format!("`{path}` matches no check of this spec");
        let help = "the architecture, the devices and the precisions decide which checks there are; remove the entry";
        decoder.complain(node, message, Some(help.to_owned()));
        return None;
    }
    Some(matcher)
}

impl Matcher {
    fn matches(&self, registration: &Registration) -> bool {
        self.check == registration.check
            && self.device.is_none_or(|it| it == registration.device)
            && self.precision.is_none_or(|it| it == registration.precision)
    }
}

impl SpecContext<'_> {
    /// The checks of the native engine, about which expected failures of a spec are; `None` if
    /// another field is invalid.
    fn native(&self) -> Option<Vec<Registration>> {
        let precisions = self.precisions?;
        Some(required_checks(
            self.architecture?,
            self.devices?,
            precisions,
        ))
    }

    /// The checks that can be skipped: some exist in columns of engines only.
    fn skippable(&self) -> Option<Vec<Registration>> {
        let of_engines = engine_checks(self.architecture?, self.devices?, self.precisions?);
        self.native().map(|native| [native, of_engines].concat())
    }
}

fn key(xfail: &Xfail) -> (Check, Option<DeviceKind>, Option<Precision>) {
    (xfail.check, xfail.device, xfail.precision)
}
