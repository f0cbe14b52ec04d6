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
        url: string;
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
        message: string;
        remediation: string;
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
    Finding: {
      code: components["schemas"]["FindingCode"];
      rule: string;
      message: string;
      remediation: string;
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
        url: string;
      } | null;
      networkPostId: string | null;
      url: string | null;
      publishedAt: string | null;
      attempts: number;
      lastAttemptAt: string | null;
      nextAttemptAt: string | null;
      error: components["schemas"]["LegError"] | null;
      retryAvailable: boolean;
      warnings: {
        code: components["schemas"]["FindingCode"];
        rule: string;
        message: string;
      }[];
      tokensCharged: number;
      firstComment: components["schemas"]["FirstComment"] | null;
      removal: components["schemas"]["Removal"] | null;
    };
    LegError: {
      code: components["schemas"]["LegErrorCode"];
      message: string;
      remediation: string;
      rule: string | null;
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
      /** Checks it against the networks' rules. Runs the rules that accepting a post runs, without publishing. Costs 1 token, and with `media=true` 1 more for every media URL that is fetched and checked. Problems are part of the answer and not an error. A file whose server doesn't answer within 15 seconds is `media_unreachable`. While 12 requests of the platform wait for files, further ones with `media=true` are refused with `rate_limited`. */
      validatePost: {
        input: {
          media?: "true" | "false";
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["PostRequest"];
        answer: components["schemas"]["ValidationResult"];
      };
      /** Publishes it now, or at `scheduleAt`. The post is stored and its tokens are reserved before the answer. It is published afterwards: read it again, or wait for its webhook, until `status` is `succeeded`, `partial` or `failed`. Each leg reserves 10 tokens, which are settled when it is published and released when it fails. A network that can't take the post doesn't delay the others: its leg is `failed` from the start and costs nothing. With `scheduleAt`, storing the post costs 2 tokens, and its legs reserve theirs when it is due. */
      createPost: {
        input: {
          idempotencyKey?: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["PostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** The profile's posts, newest first. */
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
      /** Returns it with its legs. */
      getPost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["Post"];
      };
      /** Possible until it starts. Fields that aren't named stay unchanged. Null clears a field that a new post may leave out, except `scheduleAt`. With `expectedUpdatedAt`, the post is only changed if it hasn't changed since; otherwise the answer is 409 `conflict`. The event is `post.updated`. */
      updatePost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["UpdatePostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** Possible until it starts. Its legs are skipped, and nothing is charged beyond the price of storing it. */
      cancelPost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer?: components["schemas"]["Post"];
      };
      /** Lists what happened to the post, in order. For troubleshooting: every call to a network with its time and status, never a secret. Steps may be added without notice, so don't build on them. */
      getTimeline: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["TimelineStep"][];
      };
      /** Retries all failed legs, or those in `platforms`. Each reserves 10 tokens. If the outcome of an earlier attempt is unknown, it is looked up on the network before anything is sent again. A leg's `retryAvailable` says whether a retry makes sense without a change. */
      retryPost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["RetryPostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** Removes everything that the post made visible, or the legs in `platforms`: legs that are `succeeded`, and legs that failed with `outcome_unknown`, which are looked up on the network first. It is free. The networks are called after the answer, for up to an hour: read the post again, or wait for `leg.removed` or `leg.removal_failed`, until `removal.status` is no longer `pending`. The legs keep their status and stay settled. Legs that are still being published are left alone. This also works for a disabled profile. */
      removePost: {
        input: {
          postId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["RemovePostRequest"];
        answer: components["schemas"]["Post"];
      };
      /** A restricted key sees those on its allowlist. */
      listProfiles: {
        input: {
          limit?: number;
          cursor?: string;
          externalId?: string;
          status?: "active" | "disabled" | "erasing";
          applicationId?: string;
        };
        item: components["schemas"]["Profile"];
      };
      /** Creates it in the caller's application. `externalId` is your own id for the customer, unique within the application. A second profile with the same one is refused with 409 `conflict`, whose `details.existingId` names the first. */
      createProfile: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateProfileRequest"];
        answer: components["schemas"]["Profile"];
      };
      getProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["Profile"];
      };
      /** Fields that aren't named stay unchanged. An `externalId` of null or `""` clears it. */
      updateProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["UpdateProfileRequest"];
        answer: components["schemas"]["Profile"];
      };
      /** It can be reactivated. Publishing, validating and connecting get 403 `profile_disabled`, and due posts are skipped. Connections and `externalId` are kept. PATCH with `status: active` reactivates the profile. */
      disableProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer?: components["schemas"]["Profile"];
      };
      /** Erases it with all its personal data, for good. Title, `externalId` and metadata are erased immediately, and the `externalId` can be used again. Accounts are unlinked, their authorisations are ended at the networks, scheduled posts are canceled, and legs that are being published end. Then posts, events, deliveries and connect sessions are removed. This takes at least 20 minutes, after which the profile answers 404. Ledger entries stay, with ids only. Published posts stay at the networks. The profile can't be restored. */
      eraseProfile: {
        input: {
          profileId?: string;
          applicationId?: string;
        };
        answer: components["schemas"]["Profile"];
      };
      /** The profile's linked accounts. At most one per network, so there is only one page. */
      listConnections: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        item: components["schemas"]["Connection"];
      };
      /** Purges its tokens, and revokes them at the network. */
      removeConnection: {
        input: {
          profileId?: string;
          connectionId: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer?: components["schemas"]["Connection"];
      };
      /** Starts a visit to the hosted page on which an end user links accounts. Send the end user to `connectUrl`. The page leads back to `returnUrl` with `session`, `status`, `connections` and your `state` in the query. Linking a new account costs 5 tokens. The session ends with the key or user that started it, and with the one that minted the grant used by the key. Once one of them is revoked, expired, deleted or removed, nothing more is linked, and the status is `canceled`. */
      createConnectSession: {
        input: {
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        } & components["schemas"]["CreateConnectSessionRequest"];
        answer: components["schemas"]["ConnectSessionCreated"];
      };
      /** The profile's, without the addresses of their pages. Each can be ended with `POST /v1/connect/sessions/{sessionId}/cancel`. Sessions of a key or user that is gone have ended and are not listed. A page may be short or empty without being the last. */
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
      /** Returns it with the connections made in it. */
      getConnectSession: {
        input: {
          sessionId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["ConnectSession"];
      };
      /** Only an open one can be canceled. Its page then links nothing more. */
      cancelConnectSession: {
        input: {
          sessionId: string;
          profileId?: string;
          applicationId?: string;
          profileGrant?: string;
        };
        answer: components["schemas"]["ConnectSession"];
      };
      /** The hosted page, for the end user's browser. Send the browser to `connectUrl`, which has both parameters. */
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
      /** Without their secrets. A key sees its application's endpoints, and a restricted key sees them without `url` and `secretHint`. A session sees those of the application it names, or of the whole platform. */
      listWebhooks: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["Webhook"];
      };
      /** Only this answer contains its secret. Costs 5 tokens. An application can have up to 20; the same address again is another one, which gets every event too. Deliveries are POST requests with an `Event` as body, signed with the secret. Any 2xx within 10 seconds counts as delivered. Everything else is retried, ten attempts in total over three days. */
      createWebhook: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateWebhookRequest"];
        answer: components["schemas"]["WebhookWithSecret"];
      };
      /** Changes, disables or reactivates it. Fields that aren't named stay unchanged. */
      updateWebhook: {
        input: {
          webhookId: string;
          applicationId?: string;
        } & components["schemas"]["UpdateWebhookRequest"];
        answer: components["schemas"]["Webhook"];
      };
      /** Returns the deleted endpoint. Its pending deliveries end as dead. */
      deleteWebhook: {
        input: {
          webhookId: string;
          applicationId?: string;
        };
        answer?: components["schemas"]["Webhook"];
      };
      /** Only this answer contains the new one. For 24 hours, deliveries have two signatures, one for each secret. Rotating again within that time ends the older one immediately. */
      rotateWebhookSecret: {
        input: {
          webhookId: string;
          applicationId?: string;
        };
        answer: components["schemas"]["WebhookWithSecret"];
      };
      /** Sends the endpoint a `webhook.test` event. Sent regardless of the events that the endpoint has chosen. List its deliveries to see the result. */
      testWebhook: {
        input: {
          webhookId: string;
          applicationId?: string;
        };
        answer: components["schemas"]["WebhookDelivery"];
      };
      /** Newest first. A restricted key sees those about the profiles on its allowlist. */
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
      /** The delivery, and what it sends: to find out why a receiver refuses it, or to send it again by hand. A restricted key sees those about the profiles on its allowlist. */
      getDelivery: {
        input: {
          webhookId: string;
          deliveryId: string;
          applicationId?: string;
        };
        answer: components["schemas"]["WebhookDeliveryWithRequest"];
      };
      /** Sends its event again. For deliveries that have ended, succeeded or dead. Returns the new delivery, which has the same event id and ten attempts of its own. */
      redriveDelivery: {
        input: {
          webhookId: string;
          deliveryId: string;
          applicationId?: string;
        };
        answer: components["schemas"]["WebhookDelivery"];
      };
      /** The application's events of the last 30 days, oldest first. The events that webhooks send, for clients that poll: pass the last event's id as `after`. An event is listed 15 seconds after it happened, so that none is missed. A restricted key sees those about the profiles on its allowlist. Its pages may be short or empty before the last, so follow `nextCursor`. */
      listEvents: {
        input: {
          limit?: number;
          cursor?: string;
          after?: string;
          applicationId?: string;
        };
        item: components["schemas"]["Event"];
      };
      /** Says what the wallet holds, and how much of it is reserved. */
      getBalance: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["Balance"];
      };
      /** Newest first. Every change of the wallet is one entry, so the balance is the sum of all `credit`, `debit` and `settle` entries. With `groupBy`, the answer has totals of whole UTC days instead of entries, on one page: `from` and `to` are extended to midnight (see `range`, next to `page`), and entries after `asOf` may be missing. A range with more than 100,000 groups a day is refused. A key sees its application's entries, and a restricted key those of the profiles on its allowlist. */
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
      /** The entries of a range of up to 31 days and 50,000 entries, newest first, as RFC 4180: a header line, and a line for each entry with its fields. `actor` is two columns, `actorKind` and `actorId`. A text that a spreadsheet would take for a formula, because it begins with `=`, `+`, `-`, `@`, a tab or a carriage return, has an apostrophe before it. A larger range is refused with an issue `range_too_large`, before the other filters are applied. A key exports its application's entries, and a restricted key those of the profiles on its allowlist. */
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
      /** Returns the daily token budget and its use. */
      getBillingLimits: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["BillingLimits"];
      };
      /** Sets or removes the daily token budget. A budget below today's spending only stops new spending. */
      updateBillingLimits: {
        input: {
          applicationId?: string;
        } & components["schemas"]["UpdateBillingLimitsRequest"];
        answer: components["schemas"]["BillingLimits"];
      };
      /** Adds tokens to its wallet. The same `reference` credits only once, and a repeat returns the first entry. With another number of tokens it is a conflict. */
      creditPlatform: {
        input: components["schemas"]["CreditPlatformRequest"];
        answer: components["schemas"]["Credited"];
      };
      /** Without their secrets. A key sees its application's keys, and a restricted key only itself. A session sees those of the application it names, or of the whole platform. */
      listKeys: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["ApiKey"];
      };
      /** Only this answer contains its secret. A key can only create keys for its own application, and none that outlives it. A session names the application with `applicationId` or the header. An application can have up to 1,000 keys in use. */
      createKey: {
        input: components["schemas"]["CreateKeyRequest"];
        answer: components["schemas"]["ApiKeyCreated"];
      };
      renameKey: {
        input: {
          keyId: string;
          applicationId?: string;
        } & components["schemas"]["RenameKeyRequest"];
        answer: components["schemas"]["ApiKey"];
      };
      /** Deletes everything stored about it, too. With `descendants=true`, the keys that it made are deleted too, and those that they made: at most 1,000 per call. If there are more, the answer is `limit_reached`; repeat the call. */
      deleteKey: {
        input: {
          keyId: string;
          descendants?: "true" | "false";
          applicationId?: string;
        };
      };
      /** A revoked key stays listed. It stops working immediately, and so do the profile grants that it minted. With `descendants=true`, so do the keys that it made, and those that they made. Otherwise they continue to work. */
      revokeKey: {
        input: {
          keyId: string;
          descendants?: "true" | "false";
          applicationId?: string;
        };
      };
      /** It lets a restricted key act for a profile for a while. The grant isn't a credential by itself. Send it in the `X-Profile-Grant` header, together with a restricted key of the same application. */
      mintProfileGrant: {
        input: {
          applicationId?: string;
        } & components["schemas"]["MintProfileGrantRequest"];
        answer: components["schemas"]["ProfileGrant"];
      };
      /** A session sees all of the platform, a key its own. */
      listApplications: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["Application"];
      };
      /** Creates its first key too, unless declined. Only an owner with a recently confirmed session may create the key. With `createDefaultKey: false`, any member may create the application. */
      createApplication: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateApplicationRequest"];
        answer: components["schemas"]["ApplicationCreated"];
      };
      getApplication: {
        input: {
          applicationId: string;
        };
        answer: components["schemas"]["Application"];
      };
      /** Renames, disables or enables it. Keys of a disabled application get 403 `application_disabled`, and its due posts are skipped. Only an owner may disable one. */
      updateApplication: {
        input: {
          applicationId: string;
        } & components["schemas"]["UpdateApplicationRequest"];
        answer: components["schemas"]["Application"];
      };
      /** The posts of all profiles of the application, newest first. The list is exact as soon as a post is accepted or changed. A filtered call searches at most 4,000 posts, so a page may be short or empty while `hasMore` is true. */
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
      /** Returns the post with its legs, whatever profile of the application it belongs to. */
      getApplicationPost: {
        input: {
          applicationId: string;
          postId: string;
        };
        answer: components["schemas"]["Post"];
      };
      /** The scheduled posts of all profiles of the application, soonest first. A post is in the list from the answer that accepts it until it starts or is canceled. `from` and `to` are times of `scheduleAt`. A filtered call searches at most 4,000 posts, so a page may be short or empty while `hasMore` is true. */
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
      /** Returns it with its wallet, applications and counts. */
      getMe: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["Me"];
      };
      /** Says which notices the platform's owners get by mail. Notices about the security of an account can't be switched off. */
      getNotices: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["Notices"];
      };
      /** Switches notices by mail on or off. Each owner with a verified e-mail gets at most one mail of a kind an hour, and ten a day. It lists what happened. */
      updateNotices: {
        input: {
          applicationId?: string;
        } & components["schemas"]["UpdateNoticesRequest"];
        answer: components["schemas"]["Notices"];
      };
      /** Lists what each operation costs, in tokens. */
      getRateCard: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["RateCard"];
      };
      /** Recent events of the platform, as far as this process saw them. A session sees its platform's events, and an `app_admin` key those of its application. A restricted key sees events about the profiles on its allowlist, and its own. The list is kept in memory, 1,000 events per process. The permanent record is the log. */
      listAudit: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["AuditEvent"];
      };
      /** All its data is erased seven days later. From the answer on, every key, session, grant and connect session of the platform gets 403 `platform_closed`, and no one-time link works. Scheduled posts are canceled and connections are ended. Running calls to networks are followed to their end. Owners get a mail now and a day before the platform is erased. Unused tokens are lost with the platform. Until `erasedAt`, an operator can reopen it with `PATCH /v1/admin/platforms/{platformId}`. */
      closePlatform: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ClosePlatformRequest"];
        answer: components["schemas"]["ClosedPlatform"];
      };
      /** Newest first. */
      listUsers: {
        input: {
          limit?: number;
          cursor?: string;
          applicationId?: string;
        };
        item: components["schemas"]["User"];
      };
      /** The colleague can log in immediately. Give the password to the colleague, who can change it with `POST /v1/auth/password`. This requires `ALLOW_DIRECT_USERS`, which is on by default if the relay sends no mail. Otherwise, invite the colleague. */
      createUser: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateUserRequest"];
        answer: components["schemas"]["User"];
      };
      /** Changes the role of a colleague or yourself, or your own language. Changing a role requires an owner and a recent confirmation. A platform always keeps at least one owner. `locale` can only be changed for yourself. */
      updateUser: {
        input: {
          userId: string;
          applicationId?: string;
        } & components["schemas"]["UpdateUserRequest"];
        answer: components["schemas"]["User"];
      };
      /** Removes a colleague or yourself, but never the last owner. A member can only remove themselves. The user's sessions and profile grants end immediately. */
      deleteUser: {
        input: {
          userId: string;
          applicationId?: string;
        };
      };
      /** Newest first. Lists open invitations, unless `status` names another status. A page may be short without being the last. Invitations are kept for 90 days after their end. */
      listInvitations: {
        input: {
          limit?: number;
          cursor?: string;
          status?: "open" | "accepted" | "withdrawn" | "expired";
          applicationId?: string;
        };
        item: components["schemas"]["Invitation"];
      };
      /** The colleague chooses a password. If the relay sends mail, the link is mailed. Otherwise hand over the link in `url`. Repeating the request while the address has an open invitation returns 200 with that invitation, the role requested now, and a new link, which ends the previous one. An invitation doesn't reserve the e-mail. A platform may send 50 invitations a day, and an address gets at most three an hour and ten a day. */
      createInvitation: {
        input: {
          applicationId?: string;
        } & components["schemas"]["CreateInvitationRequest"];
        answer: components["schemas"]["InvitationMade"];
      };
      /** Ends its link. */
      withdrawInvitation: {
        input: {
          invitationId: string;
          applicationId?: string;
        };
      };
      /** Creates a platform with its first user, and logs the user in. When sign-up is closed, the operators create platforms. */
      signUp: {
        input: components["schemas"]["SignUpRequest"];
        answer: components["schemas"]["Session"];
      };
      /** Starts a dashboard session. With TOTP on, a log-in without `totpCode` gets 401 `totp_required`. A recovery code can be used instead, once. A wrong e-mail and a wrong password get the same answer. After five failures from a network within 15 minutes, or a hundred in total within an hour, further log-ins with the e-mail get 429. Attempts with a `deviceToken` from an earlier log-in are counted separately, and so are those of a browser in which the page of a reset link or invitation was used: the page leaves the token as a cookie. Ten wrong codes are allowed per hour, until the next reset. */
      logIn: {
        input: components["schemas"]["LogInRequest"];
        answer: components["schemas"]["Session"];
      };
      /** Ends all sessions of the user, or only this one. Without a body, all sessions end. The tokens of one session, including those from `POST /v1/auth/confirm`, end together. */
      logOut: {
        input: {
          applicationId?: string;
        } & components["schemas"]["LogOutRequest"];
      };
      /** Some actions need a fresh confirmation, so that a stolen session can't do them. A confirmation lasts for ten minutes, and a log-in is one too. It is required to set up a second factor, to change staff, to create an API key in a session, to rotate a webhook secret, and to close the platform. Without it, these requests get 403 `confirmation_required`. The token in the answer belongs to the same session and ends with it. Failures count in this session alone, or with the `deviceToken`: five within 15 minutes. */
      confirmSession: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ConfirmSessionRequest"];
        answer: components["schemas"]["ConfirmedSession"];
      };
      /** Ends every other session of the user. The tokens of all devices end. The answer has a new one for this device. Failures count in this session alone: five within 15 minutes. */
      changePassword: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ChangePasswordRequest"];
        answer: {
          deviceToken: string;
        };
      };
      /** Returns a secret for an authenticator app. Log-ins need no code until the first one is confirmed, within half an hour. Another call before that replaces the secret. */
      startTotp: {
        input: {
          applicationId?: string;
        };
        answer: components["schemas"]["TotpSecret"];
      };
      /** Deletes the recovery codes too. `code` is a code of the app or a recovery code. */
      removeTotp: {
        input: {
          applicationId?: string;
        } & components["schemas"]["RemoveTotpRequest"];
      };
      /** Requires the app's first code. Only this answer contains the ten recovery codes. Each can be used once instead of a code. Sessions that are open go on; `POST /v1/auth/logout` ends them. */
      confirmTotp: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ConfirmTotpRequest"];
        answer: components["schemas"]["RecoveryCodes"];
      };
      /** Does what `DELETE /v1/auth/totp` does. For clients and gateways that drop the body of a DELETE. */
      removeTotpByPost: {
        input: {
          applicationId?: string;
        } & components["schemas"]["RemoveTotpByPostRequest"];
      };
      /** Verifies an email, or finishes its change, with the link that was mailed to it. Requires the session or the password of the user that the link is for. The link proves who has the mailbox. The session or the password proves that this is the person who signed up. Using the link again within its 7 days returns 204 again. */
      verifyEmail: {
        input: components["schemas"]["VerifyEmailRequest"];
      };
      /** Mails the link that verifies the session's user again. The previous link ends. An address gets at most three of these mails an hour and ten a day. Further requests get the same answer and send nothing. */
      resendVerification: {
        input: {
          applicationId?: string;
        };
        answer: Record<string, never>;
      };
      /** Mails a link that sets a new password. The answer doesn't depend on whether the e-mail is known: a mail comes only if somebody signs in with it. The link works once, for 60 minutes. An address gets at most three of these mails an hour. */
      askForReset: {
        input: components["schemas"]["AskForResetRequest"];
        answer: Record<string, never>;
      };
      /** Ends every session and every other link of the user, and verifies the e-mail. Failed log-ins and wrong codes so far no longer count. A second factor stays on. */
      confirmReset: {
        input: components["schemas"]["ConfirmResetRequest"];
        answer: {
          deviceToken: string;
        };
      };
      /** Mails a link to the new address. Following it makes the address the user's. The change takes effect when the link is used with the session or the password of the user (`POST /v1/auth/verify`). If the address is taken by then, the answer is 409 `conflict`. The previous address gets a mail about the request and about the change. With TOTP on, `totpCode` is required. */
      changeEmail: {
        input: {
          applicationId?: string;
        } & components["schemas"]["ChangeEmailRequest"];
        answer: Record<string, never>;
      };
      /** Makes the reader of the invitation a user of the platform, and logs them in. The e-mail counts as verified. If somebody already signs in with it, the answer is 409 `conflict`, and the link stays valid. The link works once, for 7 days. */
      acceptInvitation: {
        input: components["schemas"]["AcceptInvitationRequest"];
        answer: components["schemas"]["Session"];
      };
      /** Lists all platforms of the service. */
      listPlatforms: {
        input: {
          limit?: number;
          cursor?: string;
        };
        item: components["schemas"]["PlatformSummary"];
      };
      /** Creates the platform with its first user. This is the way to create a platform when sign-up is closed. */
      createPlatform: {
        input: components["schemas"]["CreatePlatformRequest"];
        answer: components["schemas"]["PlatformCreated"];
      };
      /** Returns it with its wallet, applications and counts. */
      getPlatform: {
        input: {
          platformId: string;
        };
        answer: components["schemas"]["PlatformAccount"];
      };
      /** Every key and session of a suspended platform gets 403 `platform_suspended`, and its due posts wait. Until `erasedAt`, `active` also reopens a platform that its owner closed; its keys and connections don't come back. The answer is 409 `invalid_state` while running calls to networks are ending, and once the platform is being erased. A closed platform can't be suspended. */
      updatePlatform: {
        input: {
          platformId: string;
        } & components["schemas"]["UpdatePlatformRequest"];
        answer: components["schemas"]["PlatformSummary"];
      };
      /** A list of one user with their platform, or an empty list when nobody signs in with the e-mail. */
      findUsers: {
        input: {
          email: string;
        };
        item: components["schemas"]["UserFound"];
      };
      /** Newest first. */
      listPlatformUsers: {
        input: {
          platformId: string;
          limit?: number;
          cursor?: string;
        };
        item: components["schemas"]["User"];
      };
      /** Frees the email. Their sessions, links and invitations end immediately. A platform that has no owner left is suspended. */
      removePlatformUser: {
        input: {
          platformId: string;
          userId: string;
        };
      };
      /** The link sets a new password, for a user who lost the password and the mailbox, or the second factor. Verify who is asking before you hand over the link. It works once, for 60 minutes, and ends any earlier one. The user and the platform's owners get a mail. */
      makeResetLink: {
        input: {
          platformId: string;
          userId: string;
        } & components["schemas"]["MakeResetLinkRequest"];
        answer: components["schemas"]["ResetLink"];
      };
      /** Lists recent events, as far as this process saw them. */
      listAllAudit: {
        input: {
          limit?: number;
          cursor?: string;
        };
        item: components["schemas"]["AuditEvent"];
      };
      /** Redrives the latest first. A call redrives at most 500 deliveries and reads at most 1,000. Call again with `cursor` until `nextCursor` is null. Concurrent calls redrive each delivery only once. Without a body, deliveries of all platforms are redriven. */
      redriveDeadDeliveries: {
        input: components["schemas"]["RedriveDeadDeliveriesRequest"];
        answer: components["schemas"]["RedriveCounts"];
      };
      /** Checks nothing else. */
      getHealth: {
        input: Record<string, never>;
        answer: components["schemas"]["Health"];
      };
      /** Checks storage and settings. Each process checks at most once a second and gives all callers the same result. */
      getReadiness: {
        input: Record<string, never>;
        answer: components["schemas"]["Readiness"];
      };
      /** This description of the API, for machines. */
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
