// Made from the OpenAPI document by `npm run client`.
export interface components {
  schemas: {
    AcceptInvitationRequest: {
      token: string;
      password: string;
    };
    Actor: {
      kind: "api_key" | "session" | "operator" | "connect_session" | "system";
      id: string;
    };
    ApiKey: {
      id: string;
      applicationId: string;
      name: string;
      scope: "app_admin" | "restricted";
      allowedProfileIds: string[];
      keyPrefix: string;
      status: "active" | "revoked" | "expired";
      expiresAt: string | null;
      lastUsedAt: string | null;
      createdAt: string;
      createdBy: components["schemas"]["Actor"];
    };
    ApiKeyCreated: {
      id: string;
      applicationId: string;
      name: string;
      scope: "app_admin" | "restricted";
      allowedProfileIds: string[];
      keyPrefix: string;
      status: "active" | "revoked" | "expired";
      expiresAt: string | null;
      lastUsedAt: string | null;
      createdAt: string;
      createdBy: components["schemas"]["Actor"];
      secret: string;
    };
    Application: {
      id: string;
      name: string;
      status: "active" | "disabled";
      createdAt: string;
      updatedAt: string;
    };
    ApplicationConnection: {
      id: string;
      profileId: string;
      applicationId: string;
      platform: components["schemas"]["Network"];
      status: "active" | "needs_reauth" | "revoked";
      account: {
        id: string;
        username: string;
        displayName: string;
        avatarUrl: string | null;
        url: string | null;
        kind: string;
      };
      instanceUrl: string | null;
      scopes: string[];
      missingScopes: string[];
      unavailableFeatures: ("firstComment" | "remove")[];
      limits: {
        [key: string]: unknown;
      };
      quota: components["schemas"]["Quota"] | null;
      expiresAt: string | null;
      lastUsedAt: string | null;
      lastError: {
        code: components["schemas"]["LegErrorCode"];
        rule: string | null;
        message: string;
        remediation: string;
        developerHint: string | null;
        docUrl: string;
        at: string;
      } | null;
      createdAt: string;
      updatedAt: string;
      profile: {
        id: string;
        title: string;
      };
    };
    ApplicationCreated: {
      id: string;
      name: string;
      status: "active" | "disabled";
      createdAt: string;
      updatedAt: string;
      apiKey: {
        id: string;
        name: string;
        keyPrefix: string;
        scope: "app_admin" | "restricted";
        applicationId: string;
        secret: string;
      } | null;
    };
    ApplicationSummary: {
      id: string;
      name: string;
      status: "active" | "disabled";
    };
    AskForResetRequest: {
      email: string;
      deviceToken?: string | null;
    };
    AuditEvent: {
      id: string;
      at: string;
      actor: components["schemas"]["Actor"];
      action: string;
      target: {
        type: string;
        id: string;
      } | null;
      platformId: string | null;
      applicationId: string | null;
      outcome: "ok" | "denied";
      ip: string;
      requestId: string;
    };
    Balance: {
      tokenBalance: number;
      tokenReserved: number;
      available: number;
      dailyTokenBudget: number | null;
      usedToday: number;
      resetsAt: string;
    };
    BillingLimits: {
      dailyTokenBudget: number | null;
      usedToday: number;
      resetsAt: string;
      updatedAt: string | null;
    };
    ChangeEmailRequest: {
      newEmail: string;
      password: string;
      totpCode?: string | null;
    };
    ChangePasswordRequest: {
      currentPassword: string;
      newPassword: string;
    };
    ClosePlatformRequest: {
      name: string;
    };
    ClosedPlatform: {
      status: "closed";
      erasedAt: string;
    };
    ConfirmResetRequest: {
      token: string;
      newPassword: string;
    };
    ConfirmSessionRequest: {
      password: string;
      totpCode?: string | null;
      deviceToken?: string | null;
    };
    ConfirmTotpRequest: {
      code: string;
    };
    ConfirmedSession: {
      token: string;
      expiresIn: number;
      expiresAt: string;
      confirmedUntil: string;
    };
    ConnectSession: {
      id: string;
      applicationId: string;
      profileId: string;
      status: "open" | "completed" | "canceled" | "expired";
      createdBy: components["schemas"]["Actor"];
      platforms: components["schemas"]["Network"][];
      returnUrl: string | null;
      state: string | null;
      branding: {
        name?: string;
        logoUrl?: string;
        faviconUrl?: string;
        accentColor?: string;
        backLabel?: string;
        locale?: "en" | "de" | "fr" | "es" | "pt";
        theme?: "light" | "dark" | "auto";
        privacyUrl?: string;
        termsUrl?: string;
        supportUrl?: string;
      };
      allowDisconnect: boolean;
      connections: components["schemas"]["Connection"][];
      expiresAt: string;
      createdAt: string;
    };
    ConnectSessionCreated: {
      id: string;
      applicationId: string;
      profileId: string;
      status: "open" | "completed" | "canceled" | "expired";
      createdBy: components["schemas"]["Actor"];
      platforms: components["schemas"]["Network"][];
      returnUrl: string | null;
      state: string | null;
      branding: {
        name?: string;
        logoUrl?: string;
        faviconUrl?: string;
        accentColor?: string;
        backLabel?: string;
        locale?: "en" | "de" | "fr" | "es" | "pt";
        theme?: "light" | "dark" | "auto";
        privacyUrl?: string;
        termsUrl?: string;
        supportUrl?: string;
      };
      allowDisconnect: boolean;
      connections: components["schemas"]["Connection"][];
      expiresAt: string;
      createdAt: string;
      connectUrl: string;
    };
    Connection: {
      id: string;
      profileId: string;
      applicationId: string;
      platform: components["schemas"]["Network"];
      status: "active" | "needs_reauth" | "revoked";
      account: {
        id: string;
        username: string;
        displayName: string;
        avatarUrl: string | null;
        url: string | null;
        kind: string;
      };
      instanceUrl: string | null;
      scopes: string[];
      missingScopes: string[];
      unavailableFeatures: ("firstComment" | "remove")[];
      limits: {
        [key: string]: unknown;
      };
      quota: components["schemas"]["Quota"] | null;
      expiresAt: string | null;
      lastUsedAt: string | null;
      lastError: {
        code: components["schemas"]["LegErrorCode"];
        rule: string | null;
        message: string;
        remediation: string;
        developerHint: string | null;
        docUrl: string;
        at: string;
      } | null;
      createdAt: string;
      updatedAt: string;
    };
    CreateApplicationRequest: {
      name: string;
      createDefaultKey?: boolean | null;
      defaultKeyName?: string | null;
    };
    CreateConnectSessionRequest: {
      platforms?: ("facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon")[] | null;
      returnUrl?: string | null;
      state?: string | null;
      branding?: {
        name?: string | null;
        logoUrl?: string | null;
        faviconUrl?: string | null;
        accentColor?: string | null;
        backLabel?: string | null;
        locale?: "en" | "de" | "fr" | "es" | "pt" | null;
        theme?: "light" | "dark" | "auto" | null;
        privacyUrl?: string | null;
        termsUrl?: string | null;
        supportUrl?: string | null;
      } | null;
      allowDisconnect?: boolean | null;
      expiresIn?: number | null;
    };
    CreateInvitationRequest: {
      email: string;
      role?: "owner" | "member" | null;
      locale?: "en" | "de" | "fr" | "es" | "pt" | null;
    };
    CreateKeyRequest: {
      name?: string | null;
      expiresAt?: string | null;
      scope?: "app_admin" | "restricted" | null;
      allowedProfileIds?: string[] | null;
      applicationId?: string | null;
    };
    CreateMediaRequest: {
      contentType:
        | "image/jpeg"
        | "image/png"
        | "image/webp"
        | "image/gif"
        | "image/avif"
        | "image/tiff"
        | "image/bmp"
        | "image/heic"
        | "image/heif"
        | "video/mp4"
        | "video/quicktime"
        | "video/webm"
        | "video/mpeg"
        | "audio/mpeg"
        | "audio/mp4"
        | "audio/aac"
        | "audio/ogg"
        | "audio/wav"
        | "audio/flac"
        | "application/pdf"
        | "application/msword"
        | "application/vnd.ms-powerpoint"
        | "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        | "application/vnd.openxmlformats-officedocument.presentationml.presentation";
      bytes: number;
      filename?: string | null;
    };
    CreatePlatformRequest: {
      name: string;
      ownerEmail: string;
      ownerPassword: string;
      locale?: "en" | "de" | "fr" | "es" | "pt" | null;
      initialTokens?: number | null;
    };
    CreateProfileRequest: {
      title: string;
      externalId?: string | null;
      metadata?: {
        [key: string]: string;
      } | null;
    };
    CreateUserRequest: {
      email: string;
      password: string;
      locale?: "en" | "de" | "fr" | "es" | "pt" | null;
      role?: "owner" | "member" | null;
    };
    CreateWebhookRequest: {
      url: string;
      events?:
        | (
            | "*"
            | "post.scheduled"
            | "post.updated"
            | "post.processing"
            | "post.succeeded"
            | "post.partial"
            | "post.failed"
            | "post.canceled"
            | "leg.succeeded"
            | "leg.failed"
            | "comment.succeeded"
            | "comment.failed"
            | "leg.removed"
            | "leg.removal_failed"
            | "connection.linked"
            | "connection.expiring"
            | "connection.needs_reauth"
            | "connection.removed"
            | "billing.balance_low"
            | "billing.budget_reached"
            | "webhook.test"
          )[]
        | null;
      description?: string | null;
    };
    CreditPlatformRequest: {
      platformId: string;
      tokens: number;
      note?: string | null;
      reference?: string | null;
    };
    Credited: {
      entry: components["schemas"]["LedgerEntry"];
      tokenBalance: number;
    };
    Event: {
      id: string;
      type: components["schemas"]["EventType"];
      apiVersion: string;
      createdAt: string;
      sequence: number | null;
      applicationId: string | null;
      profileId: string | null;
      data: {
        [key: string]: unknown;
      };
      truncated?: true;
    };
    EventType:
      | "post.scheduled"
      | "post.updated"
      | "post.processing"
      | "post.succeeded"
      | "post.partial"
      | "post.failed"
      | "post.canceled"
      | "leg.succeeded"
      | "leg.failed"
      | "comment.succeeded"
      | "comment.failed"
      | "leg.removed"
      | "leg.removal_failed"
      | "connection.linked"
      | "connection.expiring"
      | "connection.needs_reauth"
      | "connection.removed"
      | "billing.balance_low"
      | "billing.budget_reached"
      | "webhook.test";
    File: {
      id: string;
      profileId: string;
      filename: string | null;
      status: "waiting" | "ready" | "rejected";
      contentType: string;
      bytes: number;
      width: number | null;
      height: number | null;
      durationSeconds: number | null;
      animated: boolean | null;
      url: string;
      previewUrl: string | null;
      fits: {
        facebook: components["schemas"]["FileFit"];
        instagram: components["schemas"]["FileFit"];
        linkedin: components["schemas"]["FileFit"];
        bluesky: components["schemas"]["FileFit"];
        mastodon: components["schemas"]["FileFit"];
      } | null;
      problem: {
        code: "media_rejected";
        reason: "length" | "type" | "damaged";
        message: string;
      } | null;
      upload: {
        method: "PUT";
        url: string;
        headers: {
          [key: string]: string;
        };
        expiresAt: string;
      } | null;
      createdAt: string;
      completedAt: string | null;
      keptUntil: string;
    };
    FileFit: {
      ok: boolean;
      problems: components["schemas"]["Finding"][];
    };
    Finding: {
      code: components["schemas"]["FindingCode"];
      rule: string;
      message: string;
      remediation: string;
      developerHint: string | null;
      field: string | null;
      mediaIndex: number | null;
      docUrl: string;
    };
    FindingCode:
      | "connection_missing"
      | "connection_needs_reauth"
      | "permission_missing"
      | "account_restricted"
      | "rate_limited"
      | "quota_exceeded"
      | "duplicate_content"
      | "text_too_long"
      | "text_invalid"
      | "media_unreachable"
      | "media_rejected"
      | "media_processing_failed"
      | "media_not_ready"
      | "link_rejected"
      | "content_rejected"
      | "network_unavailable"
      | "outcome_unknown"
      | "app_misconfigured"
      | "invalid_request"
      | "feature_unsupported"
      | "profile_disabled"
      | "application_disabled"
      | "insufficient_tokens"
      | "schedule_missed"
      | "canceled"
      | "internal_error"
      | "image_changed"
      | "metadata_removed"
      | "text_shortened"
      | "alt_text_shortened"
      | "near_limit"
      | "option_unused"
      | "link_card_skipped"
      | "first_comment_failed"
      | "first_comment_unknown"
      | "thumbnail_failed"
      | "kind_changed"
      | "default_used"
      | "type_unknown";
    FirstComment: {
      status: "pending" | "succeeded" | "failed" | "unknown";
      networkCommentId: string | null;
      url: string | null;
      at: string | null;
      error: components["schemas"]["LegError"] | null;
    };
    Health: {
      status: "ok";
    };
    Invitation: {
      id: string;
      email: string;
      role: "owner" | "member";
      status: "open" | "accepted" | "withdrawn" | "expired";
      invitedBy: {
        id: string;
        email: string;
      } | null;
      createdAt: string;
      expiresAt: string;
      acceptedAt: string | null;
    };
    InvitationMade: {
      id: string;
      email: string;
      role: "owner" | "member";
      status: "open" | "accepted" | "withdrawn" | "expired";
      invitedBy: {
        id: string;
        email: string;
      } | null;
      createdAt: string;
      expiresAt: string;
      acceptedAt: string | null;
      url?: string;
    };
    LedgerEntry: {
      id: string;
      type: "credit" | "debit" | "reserve" | "settle" | "release";
      operation:
        | "posts.validate"
        | "media.validate"
        | "publish_leg"
        | "posts.retry_leg"
        | "posts.schedule"
        | "connections.link"
        | "webhooks.create"
        | "billing.credit";
      tokens: number;
      balanceAfter: number;
      reservedAfter: number;
      postId: string | null;
      platform: "facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon" | null;
      applicationId: string | null;
      profileId: string | null;
      actor: components["schemas"]["Actor"];
      requestId: string;
      note: string | null;
      createdAt: string;
    };
    Leg: {
      platform: components["schemas"]["Network"];
      status: "pending" | "publishing" | "succeeded" | "failed" | "skipped";
      connectionId: string | null;
      account: {
        id: string;
        username: string;
        url: string | null;
      } | null;
      networkPostId: string | null;
      url: string | null;
      publishedAt: string | null;
      attempts: number;
      lastAttemptAt: string | null;
      nextAttemptAt: string | null;
      error: components["schemas"]["LegError"] | null;
      retryAvailable: boolean;
      warnings: components["schemas"]["Finding"][];
      tokensCharged: number;
      firstComment: components["schemas"]["FirstComment"] | null;
      removal: components["schemas"]["Removal"] | null;
    };
    LegError: {
      code: components["schemas"]["LegErrorCode"];
      rule: string | null;
      message: string;
      remediation: string;
      developerHint: string | null;
      field: string | null;
      mediaIndex: number | null;
      networkCode: string | null;
      docUrl: string;
    };
    LegErrorCode:
      | "connection_missing"
      | "connection_needs_reauth"
      | "permission_missing"
      | "account_restricted"
      | "rate_limited"
      | "quota_exceeded"
      | "duplicate_content"
      | "text_too_long"
      | "text_invalid"
      | "media_unreachable"
      | "media_rejected"
      | "media_processing_failed"
      | "media_not_ready"
      | "link_rejected"
      | "content_rejected"
      | "network_unavailable"
      | "outcome_unknown"
      | "app_misconfigured"
      | "invalid_request"
      | "feature_unsupported"
      | "profile_disabled"
      | "application_disabled"
      | "insufficient_tokens"
      | "schedule_missed"
      | "canceled"
      | "internal_error";
    LogInRequest: {
      email: string;
      password: string;
      totpCode?: string | null;
      deviceToken?: string | null;
    };
    LogOutRequest: {
      everywhere?: boolean | null;
    };
    MakeResetLinkRequest: {
      removeTotp?: boolean | null;
    };
    Me: {
      id: string;
      name: string;
      status: "active" | "suspended" | "closed";
      createdAt: string;
      updatedAt: string;
      tokenBalance: number;
      tokenReserved: number;
      erasedAt?: string;
      applications: components["schemas"]["ApplicationSummary"][];
      counts: {
        profiles: number;
        activeApiKeys: number;
        webhooks: number;
        connections: number;
        applications: number;
      };
      application: components["schemas"]["ApplicationSummary"] | null;
      auth: {
        kind: "api_key" | "session";
        apiKeyId: string | null;
        userId: string | null;
        applicationId: string | null;
        role?: "owner" | "member";
        confirmedUntil?: string | null;
      };
      user?: components["schemas"]["User"];
    };
    MintProfileGrantRequest: {
      profileId: string;
      expiresIn?: number | null;
    };
    Network: "facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon";
    NetworkDescription: {
      name: string;
      configured: boolean;
      fields: string[];
      limits: {
        maxCharacters: number;
        unit: "graphemes" | "utf16" | "characters" | "bytes";
        maxMedia: number;
        image: {
          types: string[] | null;
          bytesMax: number | null;
        };
        video: {
          types: string[] | null;
          bytesMax: number | null;
          secondsMax: number | null;
        } | null;
      };
      rules: {
        id: string;
        severity: "error" | "warning";
        code: components["schemas"]["FindingCode"];
        message: string;
        remediation: string;
        developerHint: string | null;
      }[];
    };
    NetworkDescriptions: {
      facebook: components["schemas"]["NetworkDescription"];
      instagram: components["schemas"]["NetworkDescription"];
      linkedin: components["schemas"]["NetworkDescription"];
      bluesky: components["schemas"]["NetworkDescription"];
      mastodon: components["schemas"]["NetworkDescription"];
    };
    NetworkValidation: {
      valid: boolean;
      errors: components["schemas"]["Finding"][];
      warnings: components["schemas"]["Finding"][];
      usedCharacters: number | null;
      maxCharacters: number | null;
      quota: components["schemas"]["Quota"] | null;
      connection: {
        id: string;
        status: "active" | "needs_reauth" | "revoked";
      } | null;
    };
    Notices: {
      connectionNeedsReauth: boolean;
      endpointDisabled: boolean;
      balanceLow: boolean;
      outcomeUnknown: boolean;
    };
    Page: {
      nextCursor: string | null;
      hasMore: boolean;
      limit: number;
    };
    Platform: {
      id: string;
      name: string;
      status: "active" | "suspended" | "closed";
      createdAt: string;
      updatedAt: string;
    };
    PlatformAccount: {
      id: string;
      name: string;
      status: "active" | "suspended" | "closed";
      createdAt: string;
      updatedAt: string;
      tokenBalance: number;
      tokenReserved: number;
      erasedAt?: string;
      applications: components["schemas"]["ApplicationSummary"][];
      counts: {
        profiles: number;
        activeApiKeys: number;
        webhooks: number;
        connections: number;
        applications: number;
      };
    };
    PlatformCreated: {
      platform: components["schemas"]["PlatformSummary"];
      user: components["schemas"]["User"];
    };
    PlatformOptions: {
      facebook?: {
        text?: string | null;
        mediaUrls?: string[] | null;
        altTexts?: (string | null)[] | null;
        kind?: "feed" | "reel" | "story" | null;
        link?: string | null;
        title?: string | null;
        firstComment?: string | null;
      } | null;
      instagram?: {
        text?: string | null;
        mediaUrls?: string[] | null;
        altTexts?: (string | null)[] | null;
        kind?: "feed" | "reel" | "story" | null;
        shareToFeed?: boolean | null;
        collaborators?: string[] | null;
        coverUrl?: string | null;
        thumbOffsetMs?: number | null;
        firstComment?: string | null;
      } | null;
      linkedin?: {
        text?: string | null;
        mediaUrls?: string[] | null;
        altTexts?: (string | null)[] | null;
        visibility?: "PUBLIC" | "CONNECTIONS" | null;
        link?: {
          url: string;
          title: string;
          description?: string | null;
          thumbnailUrl?: string | null;
        } | null;
        documentTitle?: string | null;
        firstComment?: string | null;
      } | null;
      bluesky?: {
        text?: string | null;
        mediaUrls?: string[] | null;
        altTexts?: (string | null)[] | null;
        langs?: string[] | null;
        linkCard?:
          | ({
              url: string;
              title: string;
              description?: string | null;
              thumbnailUrl?: string | null;
            } | null)
          | false;
        labels?: ("sexual" | "nudity" | "porn" | "graphic-media" | "!no-unauthenticated")[] | null;
      } | null;
      mastodon?: {
        text?: string | null;
        mediaUrls?: string[] | null;
        altTexts?: (string | null)[] | null;
        visibility?: "public" | "unlisted" | "private" | "direct" | null;
        spoilerText?: string | null;
        sensitive?: boolean | null;
        language?: string | null;
        focus?:
          | ({
              x: number;
              y: number;
            } | null)[]
          | null;
      } | null;
    };
    PlatformSummary: {
      id: string;
      name: string;
      status: "active" | "suspended" | "closed";
      createdAt: string;
      updatedAt: string;
      tokenBalance: number;
      tokenReserved: number;
      erasedAt?: string;
    };
    Post: {
      id: string;
      applicationId: string;
      profileId: string;
      status: "scheduled" | "processing" | "succeeded" | "partial" | "failed" | "canceled";
      text: string;
      platforms: components["schemas"]["Network"][];
      mediaUrls: string[];
      altTexts: (string | null)[];
      platformOptions: {
        [key: string]: {
          [key: string]: unknown;
        };
      };
      scheduleAt: string | null;
      externalId: string | null;
      metadata: {
        [key: string]: string;
      };
      legs: components["schemas"]["Leg"][];
      tokens: {
        reserved: number;
        charged: number;
        released: number;
      };
      requestId: string;
      createdAt: string;
      updatedAt: string;
      startedAt: string | null;
      completedAt: string | null;
    };
    PostRequest: {
      text?: string | null;
      platforms: ("facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon")[];
      mediaUrls?: string[] | null;
      altTexts?: (string | null)[] | null;
      scheduleAt?: string | null;
      platformOptions?: components["schemas"]["PlatformOptions"] | null;
      externalId?: string | null;
      metadata?: {
        [key: string]: string;
      } | null;
    };
    Profile: {
      id: string;
      applicationId: string;
      title: string;
      externalId: string | null;
      metadata: {
        [key: string]: string;
      };
      status: "active" | "disabled" | "erasing";
      connections: {
        platform: string;
        status: string;
        username: string;
      }[];
      createdAt: string;
      updatedAt: string;
    };
    ProfileGrant: {
      token: string;
      profileId: string;
      applicationId: string;
      expiresIn: number;
      expiresAt: string;
      header: string;
    };
    Quota: {
      used: number;
      limit: number;
      remaining: number;
      resetsAt: string | null;
    };
    RateCard: {
      currency: "tokens";
      version: string;
      items: {
        operation:
          | "posts.validate"
          | "media.validate"
          | "publish_leg"
          | "posts.retry_leg"
          | "posts.schedule"
          | "connections.link"
          | "webhooks.create";
        tokens: number;
        unit: string;
        description: string;
      }[];
    };
    Readiness: {
      status: "ready";
      checks: {
        tables: {
          status: "ok" | "failed";
          durationMs: number;
        };
        queues: {
          status: "ok" | "failed";
          durationMs: number;
        };
        config: {
          status: "ok" | "failed";
          durationMs: number;
        };
      };
      mail?: "ok" | "failing";
      files: "ok" | "failing" | "off";
    };
    RecoveryCodes: {
      readonly recoveryCodes: string[];
    };
    RedriveCounts: {
      scanned: number;
      requeued: number;
      skipped: number;
      nextCursor: string | null;
    };
    RedriveDeadDeliveriesRequest: {
      platformId?: string | null;
      webhookId?: string | null;
      since?: string | null;
      cursor?: string | null;
    };
    Removal: {
      status: "pending" | "removed" | "failed" | "unsupported";
      requestedAt: string;
      at: string | null;
      error: components["schemas"]["LegError"] | null;
    };
    RemovePostRequest: {
      platforms?: ("facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon")[] | null;
    };
    RemoveTotpByPostRequest: {
      password: string;
      code: string;
    };
    RemoveTotpRequest: {
      password: string;
      code: string;
    };
    RenameKeyRequest: {
      name: string;
    };
    ResetLink: {
      url: string;
      expiresAt: string;
    };
    RetryPostRequest: {
      platforms?: ("facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon")[] | null;
    };
    Session: {
      token: string;
      expiresIn: number;
      expiresAt: string;
      user: components["schemas"]["User"];
      platform: components["schemas"]["Platform"];
      deviceToken: string;
    };
    SignUpRequest: {
      email: string;
      password: string;
      platformName: string;
      locale?: "en" | "de" | "fr" | "es" | "pt" | null;
    };
    Stats: {
      asOf: string;
      days: {
        day: string;
        posts: {
          succeeded: number;
          partial: number;
          failed: number;
          canceled: number;
        };
        legs: {
          [key: string]: {
            succeeded: number;
            failed: number;
            failedBy: {
              [key: string]: number;
            };
          };
        };
      }[];
    };
    TimelineStep: {
      at: string;
      step:
        | "accepted"
        | "scheduled"
        | "fired"
        | "reserved"
        | "retried"
        | "canceled"
        | "leg_claimed"
        | "network_call"
        | "leg_waiting"
        | "leg_settled"
        | "comment_sent"
        | "removal"
        | "completed"
        | "webhook_sent";
      platform: components["schemas"]["Network"] | null;
      attempt: number | null;
      outcome: string;
      durationMs: number | null;
      networkStatus: number | null;
      networkCode: string | null;
      note: string | null;
      webhookId: string | null;
      deliveryId: string | null;
    };
    TotpSecret: {
      secret: string;
      otpauthUrl: string;
    };
    UpdateApplicationRequest: {
      name?: string;
      status?: "active" | "disabled";
    };
    UpdateBillingLimitsRequest: {
      dailyTokenBudget: number | null;
    };
    UpdateNoticesRequest: {
      connectionNeedsReauth?: boolean;
      endpointDisabled?: boolean;
      balanceLow?: boolean;
      outcomeUnknown?: boolean;
    };
    UpdatePlatformRequest: {
      status: "active" | "suspended";
    };
    UpdatePostRequest: {
      text?: string | null;
      platforms?: ("facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon")[];
      mediaUrls?: string[] | null;
      altTexts?: (string | null)[] | null;
      scheduleAt?: string;
      platformOptions?: components["schemas"]["PlatformOptions"] | null;
      externalId?: string | null;
      metadata?: {
        [key: string]: string;
      } | null;
      expectedUpdatedAt?: string;
    };
    UpdateProfileRequest: {
      title?: string;
      externalId?: string | null;
      metadata?: {
        [key: string]: string;
      } | null;
      status?: "active" | "disabled";
    };
    UpdateUserRequest: {
      role?: "owner" | "member";
      locale?: "en" | "de" | "fr" | "es" | "pt";
    };
    UpdateWebhookRequest: {
      url?: string;
      events?: (
        | "*"
        | "post.scheduled"
        | "post.updated"
        | "post.processing"
        | "post.succeeded"
        | "post.partial"
        | "post.failed"
        | "post.canceled"
        | "leg.succeeded"
        | "leg.failed"
        | "comment.succeeded"
        | "comment.failed"
        | "leg.removed"
        | "leg.removal_failed"
        | "connection.linked"
        | "connection.expiring"
        | "connection.needs_reauth"
        | "connection.removed"
        | "billing.balance_low"
        | "billing.budget_reached"
        | "webhook.test"
      )[];
      description?: string | null;
      status?: "active" | "disabled";
    };
    UsageTotal: {
      key: string | null;
      tokens: number;
      entries: number;
    };
    User: {
      id: string;
      email: string;
      role: "owner" | "member";
      emailVerified: boolean;
      locale: "en" | "de" | "fr" | "es" | "pt";
      totpEnabled: boolean;
      createdAt: string;
      lastLoginAt: string | null;
    };
    UserFound: {
      id: string;
      email: string;
      role: "owner" | "member";
      emailVerified: boolean;
      locale: "en" | "de" | "fr" | "es" | "pt";
      totpEnabled: boolean;
      createdAt: string;
      lastLoginAt: string | null;
      platformId: string;
    };
    ValidationResult: {
      valid: boolean;
      tokensEstimate: number;
      platforms: {
        facebook?: components["schemas"]["NetworkValidation"];
        instagram?: components["schemas"]["NetworkValidation"];
        linkedin?: components["schemas"]["NetworkValidation"];
        bluesky?: components["schemas"]["NetworkValidation"];
        mastodon?: components["schemas"]["NetworkValidation"];
      };
      media: {
        url: string;
        ok: boolean;
        field: string;
        contentType: string | null;
        bytes: number | null;
        error: string | null;
      }[];
    };
    VerifyEmailRequest: {
      token: string;
      password?: string | null;
    };
    Webhook: {
      id: string;
      applicationId: string;
      url: string | null;
      description: string | null;
      events: (
        | "*"
        | "post.scheduled"
        | "post.updated"
        | "post.processing"
        | "post.succeeded"
        | "post.partial"
        | "post.failed"
        | "post.canceled"
        | "leg.succeeded"
        | "leg.failed"
        | "comment.succeeded"
        | "comment.failed"
        | "leg.removed"
        | "leg.removal_failed"
        | "connection.linked"
        | "connection.expiring"
        | "connection.needs_reauth"
        | "connection.removed"
        | "billing.balance_low"
        | "billing.budget_reached"
        | "webhook.test"
      )[];
      status: "active" | "disabled";
      disabledReason: string | null;
      secretHint: string | null;
      lastSuccessAt: string | null;
      lastFailureAt: string | null;
      health: components["schemas"]["WebhookHealth"];
      createdAt: string;
      updatedAt: string;
    };
    WebhookDelivery: {
      id: string;
      webhookId: string;
      eventId: string;
      eventType: components["schemas"]["EventType"];
      postId: string | null;
      status: "pending" | "succeeded" | "dead";
      attempts: number;
      nextAttemptAt: string | null;
      lastStatusCode: number | null;
      lastError:
        | (
            | "blocked_address"
            | "timeout"
            | "connect_failed"
            | "tls_failed"
            | "connection_lost"
            | "too_large"
            | "endpoint_failing"
            | "endpoint_deleted"
            | "endpoint_disabled"
            | "event_expired"
            | "interrupted"
            | null
          )
        | string;
      durationMs: number | null;
      responseBody: string | null;
      redriveOf: string | null;
      createdAt: string;
      deliveredAt: string | null;
    };
    WebhookDeliveryWithRequest: {
      id: string;
      webhookId: string;
      eventId: string;
      eventType: components["schemas"]["EventType"];
      postId: string | null;
      status: "pending" | "succeeded" | "dead";
      attempts: number;
      nextAttemptAt: string | null;
      lastStatusCode: number | null;
      lastError:
        | (
            | "blocked_address"
            | "timeout"
            | "connect_failed"
            | "tls_failed"
            | "connection_lost"
            | "too_large"
            | "endpoint_failing"
            | "endpoint_deleted"
            | "endpoint_disabled"
            | "event_expired"
            | "interrupted"
            | null
          )
        | string;
      durationMs: number | null;
      responseBody: string | null;
      redriveOf: string | null;
      createdAt: string;
      deliveredAt: string | null;
      request: components["schemas"]["WebhookRequest"] | null;
    };
    WebhookHealth: {
      state: "ok" | "failing" | "waiting";
      failuresInARow: number;
      failingSince: string | null;
      nextTryAt: string | null;
    };
    WebhookRequest: {
      url: string | null;
      headers: {
        [key: string]: string;
      };
      body: string;
    };
    WebhookWithSecret: {
      id: string;
      applicationId: string;
      url: string;
      description: string | null;
      events: (
        | "*"
        | "post.scheduled"
        | "post.updated"
        | "post.processing"
        | "post.succeeded"
        | "post.partial"
        | "post.failed"
        | "post.canceled"
        | "leg.succeeded"
        | "leg.failed"
        | "comment.succeeded"
        | "comment.failed"
        | "leg.removed"
        | "leg.removal_failed"
        | "connection.linked"
        | "connection.expiring"
        | "connection.needs_reauth"
        | "connection.removed"
        | "billing.balance_low"
        | "billing.budget_reached"
        | "webhook.test"
      )[];
      status: "active" | "disabled";
      disabledReason: string | null;
      secretHint: string;
      lastSuccessAt: string | null;
      lastFailureAt: string | null;
      health: components["schemas"]["WebhookHealth"];
      createdAt: string;
      updatedAt: string;
      secret: string;
    };
    ErrorDetails: {
      api_key_expired: Record<string, never>;
      api_key_revoked: Record<string, never>;
      app_admin_required: Record<string, never>;
      application_disabled: Record<string, never>;
      application_header_required: Record<string, never>;
      application_mismatch: Record<string, never>;
      confirmation_required: {
        maxAgeSeconds: number;
      };
      conflict: {
        existingId?: string;
      };
      daily_budget_reached: {
        budget: number;
        used: number;
        required: number;
        resetsAt: string;
      };
      duplicate_content: {
        postId: string | null;
        platforms: components["schemas"]["Network"][];
        allowedAfter: string | null;
      };
      email_unverified: Record<string, never>;
      idempotency_conflict: Record<string, never>;
      idempotency_key_invalid: Record<string, never>;
      idempotency_key_required: Record<string, never>;
      insufficient_tokens: {
        required: number;
        available: number;
      };
      internal_error: Record<string, never>;
      invalid_credentials: Record<string, never>;
      invalid_cursor: Record<string, never>;
      invalid_grant_token: Record<string, never>;
      invalid_json: Record<string, never>;
      invalid_link: Record<string, never>;
      invalid_state: {
        status?: string;
        remove?: string;
      };
      invitation_required: Record<string, never>;
      length_required: Record<string, never>;
      limit_reached: Record<string, never>;
      mail_disabled: Record<string, never>;
      media_rejected: {
        reason: "length" | "type" | "damaged";
        problems: components["schemas"]["Finding"][];
      };
      method_not_allowed: {
        allow: string[];
      };
      not_found: Record<string, never>;
      not_publishable: {
        platforms: {
          facebook?: components["schemas"]["NetworkValidation"];
          instagram?: components["schemas"]["NetworkValidation"];
          linkedin?: components["schemas"]["NetworkValidation"];
          bluesky?: components["schemas"]["NetworkValidation"];
          mastodon?: components["schemas"]["NetworkValidation"];
        };
      };
      not_ready: {
        checks: {
          tables: {
            status: "ok" | "failed";
            durationMs: number;
          };
          queues: {
            status: "ok" | "failed";
            durationMs: number;
          };
          config: {
            status: "ok" | "failed";
            durationMs: number;
          };
        };
      };
      nothing_to_remove: {
        platforms: components["schemas"]["Network"][];
      };
      nothing_to_retry: Record<string, never>;
      owner_required: Record<string, never>;
      payload_too_large: {
        bytesMax: number;
      };
      platform_closed: Record<string, never>;
      platform_suspended: Record<string, never>;
      profile_disabled: Record<string, never>;
      profile_header_mismatch: {
        header: string;
        path: string;
      };
      profile_header_required: Record<string, never>;
      profile_not_allowed: Record<string, never>;
      rate_limited: {
        retryAfter: number;
      };
      removal_unsupported: {
        posts: {
          platform: components["schemas"]["Network"];
          url: string | null;
        }[];
      };
      role_required: Record<string, never>;
      service_unavailable: Record<string, never>;
      session_expired: Record<string, never>;
      session_required: Record<string, never>;
      signup_disabled: Record<string, never>;
      totp_required: Record<string, never>;
      unauthenticated: Record<string, never>;
      unsupported_media_type: {
        acceptEncoding?: "identity";
      };
      validation_failed: {
        issues: {
          path: string;
          code: string;
          message: string;
        }[];
      };
    };
    Operations: {
      /** Validate a post */
      validatePost: {
        input: {
          media?: "true" | "false";
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["PostRequest"];
        answer: components["schemas"]["ValidationResult"];
      };
      /** Create a post */
      createPost: {
        input: {
          idempotencyKey?: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["PostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** List posts */
      listPosts: {
        input: {
          limit?: number;
          cursor?: string;
          status?: "scheduled" | "processing" | "succeeded" | "partial" | "failed" | "canceled";
          platform?: "facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon";
          externalId?: string;
          from?: string;
          to?: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        item: components["schemas"]["Post"];
      };
      /** Get a post */
      getPost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["Post"];
      };
      /** Update a scheduled post */
      updatePost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["UpdatePostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** Cancel a scheduled post */
      cancelPost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer?: components["schemas"]["Post"];
      };
      /** Get a post's timeline */
      getTimeline: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["TimelineStep"][];
      };
      /** Retry failed legs */
      retryPost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["RetryPostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** Remove a published post */
      removePost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["RemovePostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** Get networks and their rules */
      getNetworks: {
        input: Record<string, never>;
        answer: components["schemas"]["NetworkDescriptions"];
      };
      /** Announce a file */
      createMedia: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["CreateMediaRequest"];
        answer: components["schemas"]["File"];
      };
      /** List files */
      listMedia: {
        input: {
          limit?: number;
          cursor?: string;
          status?: "waiting" | "ready" | "rejected";
          contentType?: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        item: components["schemas"]["File"];
      };
      /** Complete an upload */
      completeMedia: {
        input: {
          mediaId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["File"];
      };
      /** Get a file */
      getMedia: {
        input: {
          mediaId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["File"];
      };
      /** Delete a file */
      deleteMedia: {
        input: {
          mediaId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
      };
      /** Read a file's bytes */
      getMediaContent: {
        input: {
          mediaId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        bytes: boolean;
      };
      /** List profiles */
      listProfiles: {
        input: {
          limit?: number;
          cursor?: string;
          externalId?: string;
          status?: "active" | "disabled" | "erasing";
          q?: string;
          applicationId?: string;
        };
        item: components["schemas"]["Profile"];
      };
      /** Create a profile */
      createProfile: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateProfileRequest"];
        answer: components["schemas"]["Profile"];
      };
      /** Get a profile */
      getProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["Profile"];
      };
      /** Update a profile */
      updateProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["UpdateProfileRequest"];
        answer: components["schemas"]["Profile"];
      };
      /** Disable a profile */
      disableProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer?: components["schemas"]["Profile"];
      };
      /** Erase a profile */
      eraseProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
        };
        answer: components["schemas"]["Profile"];
      };
      /** List connections */
      listConnections: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        item: components["schemas"]["Connection"];
      };
      /** Unlink an account */
      removeConnection: {
        input: {
          profileId?: string;
          connectionId: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer?: components["schemas"]["Connection"];
      };
      /** Create a connect session */
      createConnectSession: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["CreateConnectSessionRequest"];
        answer: components["schemas"]["ConnectSessionCreated"];
      };
      /** List open connect sessions */
      listConnectSessions: {
        input: {
          profileId?: string;
          limit?: number;
          cursor?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        item: components["schemas"]["ConnectSession"];
      };
      /** Get a connect session */
      getConnectSession: {
        input: {
          sessionId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["ConnectSession"];
      };
      /** Cancel a connect session */
      cancelConnectSession: {
        input: {
          sessionId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["ConnectSession"];
      };
      /** Open the connect page */
      showConnectPage: {
        input: {
          session?: string;
          token?: string;
          problem?: string;
          network?: string;
          linked?: string;
          choice?: string;
        };
        answer: string;
      };
      /** List webhook endpoints */
      listWebhooks: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["Webhook"];
      };
      /** Create a webhook endpoint */
      createWebhook: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateWebhookRequest"];
        answer: components["schemas"]["WebhookWithSecret"];
      };
      /** Update a webhook endpoint */
      updateWebhook: {
        input: {
          webhookId: string;
          applicationId?: string;
        } & components["schemas"]["UpdateWebhookRequest"];
        answer: components["schemas"]["Webhook"];
      };
      /** Delete a webhook endpoint */
      deleteWebhook: {
        input: {
          webhookId: string;
          applicationId?: string;
        };
        answer?: components["schemas"]["Webhook"];
      };
      /** Rotate a signing secret */
      rotateWebhookSecret: {
        input: {
          webhookId: string;
          applicationId?: string;
        };
        answer: components["schemas"]["WebhookWithSecret"];
      };
      /** Send a test event */
      testWebhook: {
        input: {
          webhookId: string;
          applicationId?: string;
        };
        answer: components["schemas"]["WebhookDelivery"];
      };
      /** List an endpoint's deliveries */
      listDeliveries: {
        input: {
          webhookId: string;
          limit?: number;
          cursor?: string;
          status?: "pending" | "succeeded" | "dead";
          eventType?:
            | "post.scheduled"
            | "post.updated"
            | "post.processing"
            | "post.succeeded"
            | "post.partial"
            | "post.failed"
            | "post.canceled"
            | "leg.succeeded"
            | "leg.failed"
            | "comment.succeeded"
            | "comment.failed"
            | "leg.removed"
            | "leg.removal_failed"
            | "connection.linked"
            | "connection.expiring"
            | "connection.needs_reauth"
            | "connection.removed"
            | "billing.balance_low"
            | "billing.budget_reached"
            | "webhook.test";
          from?: string;
          to?: string;
          applicationId?: string;
        };
        item: components["schemas"]["WebhookDelivery"];
      };
      /** Get a delivery with its request */
      getDelivery: {
        input: {
          webhookId: string;
          deliveryId: string;
          applicationId?: string;
        };
        answer: components["schemas"]["WebhookDeliveryWithRequest"];
      };
      /** Redrive a delivery */
      redriveDelivery: {
        input: {
          webhookId: string;
          deliveryId: string;
          applicationId?: string;
        };
        answer: components["schemas"]["WebhookDelivery"];
      };
      /** List events */
      listEvents: {
        input: {
          limit?: number;
          cursor?: string;
          after?: string;
          applicationId?: string;
        };
        item: components["schemas"]["Event"];
      };
      /** Get the balance */
      getBalance: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["Balance"];
      };
      /** List ledger entries */
      listUsage: {
        input: {
          limit?: number;
          cursor?: string;
          from?: string;
          to?: string;
          operation?:
            | "posts.validate"
            | "media.validate"
            | "publish_leg"
            | "posts.retry_leg"
            | "posts.schedule"
            | "connections.link"
            | "webhooks.create"
            | "billing.credit";
          applicationId?: string;
          profileId?: string;
          postId?: string;
          groupBy?: "day" | "application" | "profile" | "operation";
        };
        item: components["schemas"]["LedgerEntry"] | components["schemas"]["UsageTotal"];
      };
      /** Export ledger entries as CSV */
      exportUsage: {
        input: {
          from: string;
          to: string;
          operation?:
            | "posts.validate"
            | "media.validate"
            | "publish_leg"
            | "posts.retry_leg"
            | "posts.schedule"
            | "connections.link"
            | "webhooks.create"
            | "billing.credit";
          applicationId?: string;
          profileId?: string;
          postId?: string;
        };
        answer: string;
      };
      /** Get the daily budget */
      getBillingLimits: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["BillingLimits"];
      };
      /** Change the daily budget */
      updateBillingLimits: {
        input: {
          applicationId?: string;
        } & components["schemas"]["UpdateBillingLimitsRequest"];
        answer: components["schemas"]["BillingLimits"];
      };
      /** Credit a platform */
      creditPlatform: {
        input: components["schemas"]["CreditPlatformRequest"];
        answer: components["schemas"]["Credited"];
      };
      /** List API keys */
      listKeys: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["ApiKey"];
      };
      /** Create an API key */
      createKey: {
        input: components["schemas"]["CreateKeyRequest"];
        answer: components["schemas"]["ApiKeyCreated"];
      };
      /** Rename an API key */
      renameKey: {
        input: {
          keyId: string;
          applicationId?: string;
        } & components["schemas"]["RenameKeyRequest"];
        answer: components["schemas"]["ApiKey"];
      };
      /** Delete an API key */
      deleteKey: {
        input: {
          keyId: string;
          descendants?: "true" | "false";
          applicationId?: string;
        };
      };
      /** Revoke an API key */
      revokeKey: {
        input: {
          keyId: string;
          descendants?: "true" | "false";
          applicationId?: string;
        };
      };
      /** Create a profile grant */
      mintProfileGrant: {
        input: {
          applicationId?: string;
        } & components["schemas"]["MintProfileGrantRequest"];
        answer: components["schemas"]["ProfileGrant"];
      };
      /** List applications */
      listApplications: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["Application"];
      };
      /** Create an application */
      createApplication: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateApplicationRequest"];
        answer: components["schemas"]["ApplicationCreated"];
      };
      /** Get an application */
      getApplication: {
        input: {
          applicationId: string;
        };
        answer: components["schemas"]["Application"];
      };
      /** Update an application */
      updateApplication: {
        input: {
          applicationId: string;
        } & components["schemas"]["UpdateApplicationRequest"];
        answer: components["schemas"]["Application"];
      };
      /** List an application's posts */
      listApplicationPosts: {
        input: {
          applicationId: string;
          limit?: number;
          cursor?: string;
          profileId?: string;
          platform?: "facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon";
          from?: string;
          to?: string;
          status?: "scheduled" | "processing" | "succeeded" | "partial" | "failed" | "canceled";
          externalId?: string;
          problem?: "outcome_unknown" | "first_comment" | "removal" | "any";
        };
        item: components["schemas"]["Post"];
      };
      /** Get an application's post */
      getApplicationPost: {
        input: {
          applicationId: string;
          postId: string;
        };
        answer: components["schemas"]["Post"];
      };
      /** List an application's scheduled posts */
      listSchedule: {
        input: {
          applicationId: string;
          limit?: number;
          cursor?: string;
          profileId?: string;
          platform?: "facebook" | "instagram" | "linkedin" | "bluesky" | "mastodon";
          from?: string;
          to?: string;
        };
        item: components["schemas"]["Post"];
      };
      /** List an application's connections */
      listApplicationConnections: {
        input: {
          applicationId: string;
          limit?: number;
          cursor?: string;
          platform?: components["schemas"]["Network"];
          status?: "active" | "needs_reauth" | "revoked" | "attention";
        };
        item: components["schemas"]["ApplicationConnection"];
      };
      /** Get daily statistics */
      getStats: {
        input: {
          applicationId: string;
          from?: string;
          to?: string;
        };
        answer: components["schemas"]["Stats"];
      };
      /** Get the caller's platform */
      getMe: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["Me"];
      };
      /** Get the notice settings */
      getNotices: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["Notices"];
      };
      /** Change the notice settings */
      updateNotices: {
        input: {
          applicationId?: string;
        } & components["schemas"]["UpdateNoticesRequest"];
        answer: components["schemas"]["Notices"];
      };
      /** Get the rate card */
      getRateCard: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["RateCard"];
      };
      /** List audit events */
      listAudit: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["AuditEvent"];
      };
      /** Close the platform */
      closePlatform: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ClosePlatformRequest"];
        answer: components["schemas"]["ClosedPlatform"];
      };
      /** List staff */
      listUsers: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["User"];
      };
      /** Add a colleague */
      createUser: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateUserRequest"];
        answer: components["schemas"]["User"];
      };
      /** Change a user's role or language */
      updateUser: {
        input: {
          userId: string;
          applicationId?: string;
        } & components["schemas"]["UpdateUserRequest"];
        answer: components["schemas"]["User"];
      };
      /** Remove a user */
      deleteUser: {
        input: {
          userId: string;
          applicationId?: string;
        };
      };
      /** List invitations */
      listInvitations: {
        input: {
          limit?: number;
          cursor?: string;
          status?: "open" | "accepted" | "withdrawn" | "expired";
          applicationId?: string;
        };
        item: components["schemas"]["Invitation"];
      };
      /** Invite a colleague */
      createInvitation: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateInvitationRequest"];
        answer: components["schemas"]["InvitationMade"];
      };
      /** Withdraw an invitation */
      withdrawInvitation: {
        input: {
          invitationId: string;
          applicationId?: string;
        };
      };
      /** Sign up */
      signUp: {
        input: components["schemas"]["SignUpRequest"];
        answer: components["schemas"]["Session"];
      };
      /** Log in */
      logIn: {
        input: components["schemas"]["LogInRequest"];
        answer: components["schemas"]["Session"];
      };
      /** Log out */
      logOut: {
        input: {
          applicationId?: string;
        } & components["schemas"]["LogOutRequest"];
      };
      /** Confirm a session with the password */
      confirmSession: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ConfirmSessionRequest"];
        answer: components["schemas"]["ConfirmedSession"];
      };
      /** Change the password */
      changePassword: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ChangePasswordRequest"];
        answer: {
          deviceToken: string;
        };
      };
      /** Start setting up TOTP */
      startTotp: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["TotpSecret"];
      };
      /** Turn off TOTP */
      removeTotp: {
        input: {
          applicationId?: string;
        } & components["schemas"]["RemoveTotpRequest"];
      };
      /** Turn on TOTP */
      confirmTotp: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ConfirmTotpRequest"];
        answer: components["schemas"]["RecoveryCodes"];
      };
      /** Turn off TOTP with a POST */
      removeTotpByPost: {
        input: {
          applicationId?: string;
        } & components["schemas"]["RemoveTotpByPostRequest"];
      };
      /** Verify an email address */
      verifyEmail: {
        input: components["schemas"]["VerifyEmailRequest"];
      };
      /** Resend the verification email */
      resendVerification: {
        input: {
          applicationId?: string;
        };
        answer: Record<string, never>;
      };
      /** Request a password reset */
      askForReset: {
        input: components["schemas"]["AskForResetRequest"];
        answer: Record<string, never>;
      };
      /** Set a new password with a reset link */
      confirmReset: {
        input: components["schemas"]["ConfirmResetRequest"];
        answer: {
          deviceToken: string;
        };
      };
      /** Change the email address */
      changeEmail: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ChangeEmailRequest"];
        answer: Record<string, never>;
      };
      /** Accept an invitation */
      acceptInvitation: {
        input: components["schemas"]["AcceptInvitationRequest"];
        answer: components["schemas"]["Session"];
      };
      /** List platforms */
      listPlatforms: {
        input: {
          limit?: number;
          cursor?: string;
          q?: string;
        };
        item: components["schemas"]["PlatformSummary"];
      };
      /** Create a platform */
      createPlatform: {
        input: components["schemas"]["CreatePlatformRequest"];
        answer: components["schemas"]["PlatformCreated"];
      };
      /** Get a platform */
      getPlatform: {
        input: {
          platformId: string;
        };
        answer: components["schemas"]["PlatformAccount"];
      };
      /** Suspend or reactivate a platform */
      updatePlatform: {
        input: {
          platformId: string;
        } & components["schemas"]["UpdatePlatformRequest"];
        answer: components["schemas"]["PlatformSummary"];
      };
      /** List a platform's ledger entries */
      listPlatformUsage: {
        input: {
          platformId: string;
          limit?: number;
          cursor?: string;
          from?: string;
          to?: string;
          operation?:
            | "posts.validate"
            | "media.validate"
            | "publish_leg"
            | "posts.retry_leg"
            | "posts.schedule"
            | "connections.link"
            | "webhooks.create"
            | "billing.credit";
          applicationId?: string;
          profileId?: string;
          postId?: string;
          groupBy?: "day" | "application" | "profile" | "operation";
        };
        item: components["schemas"]["LedgerEntry"] | components["schemas"]["UsageTotal"];
      };
      /** Find a user by email */
      findUsers: {
        input: {
          email: string;
        };
        item: components["schemas"]["UserFound"];
      };
      /** List a platform's staff */
      listPlatformUsers: {
        input: {
          platformId: string;
          limit?: number;
          cursor?: string;
        };
        item: components["schemas"]["User"];
      };
      /** Remove a platform's user */
      removePlatformUser: {
        input: {
          platformId: string;
          userId: string;
        };
      };
      /** Create a reset link */
      makeResetLink: {
        input: {
          platformId: string;
          userId: string;
        } & components["schemas"]["MakeResetLinkRequest"];
        answer: components["schemas"]["ResetLink"];
      };
      /** List audit events of all platforms */
      listAllAudit: {
        input: {
          limit?: number;
          cursor?: string;
        };
        item: components["schemas"]["AuditEvent"];
      };
      /** Redrive dead deliveries */
      redriveDeadDeliveries: {
        input: components["schemas"]["RedriveDeadDeliveriesRequest"];
        answer: components["schemas"]["RedriveCounts"];
      };
      /** Check that the process is alive */
      getHealth: {
        input: Record<string, never>;
        answer: components["schemas"]["Health"];
      };
      /** Check that the service can work */
      getReadiness: {
        input: Record<string, never>;
        answer: components["schemas"]["Readiness"];
      };
      /** Get the OpenAPI document */
      getOpenApi: {
        input: Record<string, never>;
        answer: {
          [key: string]: unknown;
        };
      };
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
